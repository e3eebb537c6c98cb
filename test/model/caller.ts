/**
 * One caller: sends a call, gives it up and sends it again, reads answers, confirms by naming the log_id, and wishes
 * the same anew. Its messages overtake each other; a request that it gave up may still arrive.
 */
import { spend } from "./bounds.js";
import type { Offer } from "./offer.js";
import { type Request, replaced, type State, type Wish, without } from "./state.js";

type Asked = Pick<Request, "asks" | "names" | "wish">;

export function callerSteps(state: State, offer: Offer): void {
  const { caller, left } = state;
  caller.wishes.forEach((wish, index) => {
    if (!wish.over && left.calls > 0) sendAgain(state, wish, index, offer);
  });
  for (const reply of caller.replies) {
    const wish = caller.wishes[reply.wish];
    if (!wish) continue;
    const learnt: Wish = reply.isNothing ? wish : { ...wish, over: true, logId: reply.logId };
    const says = reply.isNothing
      ? `the caller reads that ${reply.logId} never started`
      : `the caller reads the outcome of ${reply.logId}`;
    offer("part", says, {
      caller: {
        ...caller,
        wishes: replaced(caller.wishes, wish, learnt),
        replies: without(caller.replies, reply),
      },
    });
  }
  const last = caller.wishes.at(-1);
  // Who has changed something else meanwhile wishes anew what is still under way (set A, set B, set A).
  const isContent = caller.wishes.every(({ over }) => over);
  const isChanged = last !== undefined && last.changes < caller.changes;
  if ((isContent || isChanged) && left.newWishes > 0 && left.calls > 0) {
    newWish(state, null, "wishes the same again and calls", spend(left, "newWishes"), offer);
  }
  const read = caller.wishes.findLast(({ over }) => over);
  if (!read?.logId) return;
  const { logId } = read;
  if (left.forces > 0 && left.calls > 0) {
    newWish(state, logId, `calls with force_new ${logId}`, spend(left, "forces"), offer);
  }
  if (left.names === 0) return;
  const sent = send(state, { asks: "name", names: logId, wish: caller.wishes.indexOf(read) });
  offer("caller", `the caller sends ${sent.name}, which names ${logId}`, {
    ...sent.changes,
    left: spend(left, "names"),
  });
}

function sendAgain(state: State, wish: Wish, index: number, offer: Offer): void {
  const { caller, requests, left } = state;
  const given = requests.filter((request) => request.wish === index && request.open);
  const again = { ...state, requests: requests.map((one) => (given.includes(one) ? hungUp(one) : one)) };
  const { name, changes } = send(again, { asks: "call", names: wish.force, wish: index });
  const as = wish.force === null ? "" : ` (force_new ${wish.force})`;
  const says =
    given.length === 0
      ? `the caller sends ${name}${as}`
      : `the caller gives ${given.map(nameOf).join(", ")} up and sends the call again as ${name}${as}`;
  const replies = caller.replies.filter((reply) => reply.wish !== index);
  offer("caller", says, {
    ...changes,
    caller: { ...caller, lastId: caller.lastId + 1, replies },
    left: spend(left, "calls"),
  });
}

function newWish(state: State, force: string | null, does: string, left: State["left"], offer: Offer): void {
  const { caller } = state;
  const wish: Wish = {
    force,
    over: false,
    logId: null,
    changes: caller.changes,
    mutations: state.store.mutations,
  };
  const { name, changes } = send(state, { asks: "call", names: force, wish: caller.wishes.length });
  offer("caller", `the caller ${does}: ${name}`, {
    ...changes,
    caller: { ...caller, lastId: caller.lastId + 1, wishes: [...caller.wishes, wish] },
    left: spend(left, "calls"),
  });
}

function send(state: State, asked: Asked): { name: string; changes: Partial<State> } {
  const id = state.caller.lastId + 1;
  const request: Request = { id, isDouble: false, target: null, open: true, at: "network", ...asked };
  return {
    name: nameOf(request),
    changes: {
      caller: { ...state.caller, lastId: id },
      requests: [...state.requests, request],
    },
  };
}

const hungUp = (request: Request): Request => ({ ...request, open: false });

export const nameOf = ({ id, isDouble }: Pick<Request, "id" | "isDouble">): string =>
  `#${id}${isDouble ? " (the copy)" : ""}`;
