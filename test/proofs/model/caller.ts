/**
 * One caller: sends a call, gives it up and sends it again, reads answers, proves to have read them by naming the
 * log_id, and means the same anew. Over HTTP its messages overtake each other; a request that it gave up may still
 * arrive. It may go on in another session, and somebody else may make the same call for the last Editor.
 */
import { spend } from "./bounds.js";
import type { Offer } from "./offer.js";
import type { Facts } from "./state/facts.js";
import { type Intent, type Reply, type Request, replaced, type State, without } from "./state/state.js";

type Asked = Pick<Request, "asks" | "names" | "intent"> & Partial<Pick<Request, "cancels" | "caller">>;

export function callerSteps(state: State, facts: Facts, offer: Offer): void {
  const { caller, left } = state;
  caller.intents.forEach((intent, index) => {
    if (!intent.over && left.calls > 0) sendAgain(state, intent, index, facts, offer);
  });
  reads(state, offer);
  polls(state, facts, offer);
  if (left.escs > 0) escapes(state, facts, offer);
  if (left.lateCancels > 0) cancelsLate(state, facts, offer);
  if (left.sessions > 0) goesOnElsewhere(state, facts, offer);
  const own = caller.intents.filter(({ isOthers }) => !isOthers);
  const last = own.at(-1);
  // Who has changed something meanwhile means what is still under way anew (set A, set B, set A).
  const isContent = own.every(({ over }) => over);
  const isChanged = last !== undefined && last.changes < caller.changes;
  if ((isContent || isChanged) && left.newIntents > 0 && left.calls > 0) {
    newIntent(
      state,
      facts,
      { force: null },
      "means the same anew and calls",
      spend(left, "newIntents"),
      offer,
    );
  }
  if (left.others > 0 && left.calls > 0) {
    newIntent(
      state,
      facts,
      { force: null, isOthers: true },
      "is not alone: somebody else calls",
      spend(left, "others"),
      offer,
    );
  }
  const read = own.findLast(({ over }) => over);
  if (!read?.logId) return;
  const { logId } = read;
  if (left.forces > 0 && left.calls > 0) {
    newIntent(state, facts, { force: logId }, `calls with force_new ${logId}`, spend(left, "forces"), offer);
  }
  if (left.names === 0) return;
  const sent = send(state, facts, { asks: "name", names: logId, intent: caller.intents.indexOf(read) });
  offer("caller", `the caller sends ${sent.name}, which names ${logId}`, {
    ...sent.changes,
    left: spend(left, "names"),
  });
}

function reads(state: State, offer: Offer): void {
  const { caller } = state;
  for (const reply of caller.replies) {
    const says = reply.isNothing
      ? `the caller reads that ${reply.logId} never started`
      : `the caller reads the outcome of ${reply.logId}`;
    offer("part", says, {
      caller: {
        ...caller,
        intents: learnt(caller.intents, reply),
        replies: without(caller.replies, reply),
      },
    });
  }
}

/** What the callers mean once this reply was read. */
export function learnt(intents: readonly Intent[], { intent, logId, isNothing }: Reply): readonly Intent[] {
  return intents.map((one, at) => (at === intent && !isNothing ? { ...one, over: true, logId } : one));
}

/** A call's wait ended: its caller knows the log_id, and asks for that. */
function polls(state: State, facts: Facts, offer: Offer): void {
  const { requests, left } = state;
  if (left.polls === 0) return;
  for (const request of requests) {
    const { logId, intent } = request;
    if (request.asks !== "call" || request.at !== "waiting" || !request.open || logId === undefined) continue;
    const waited = { ...state, requests: without(requests, request) };
    const { name, changes } = send(waited, facts, { asks: "name", names: logId, intent });
    offer(
      "caller",
      `the wait of ${nameOf(request)} ends; the caller sends ${name}, which asks for ${logId}`,
      {
        ...changes,
        left: spend(left, "polls"),
      },
    );
  }
}

const sessionOf = ({ caller }: State): string => `session ${caller.session}`;

/** Over HTTP the old session's requests are given up; over stdio its process ends with everything that it had. */
function goesOnElsewhere(state: State, { way }: Facts, offer: Offer): void {
  const { caller, left } = state;
  const own = sessionOf(state);
  const requests = state.requests.flatMap((one) => {
    if (one.caller !== own) return [one];
    return way === "stdio" && one.at !== "noting" ? [] : [hungUp(one)];
  });
  const replies = caller.replies.filter((reply) => caller.intents[reply.intent]?.isOthers);
  offer("caller", "the caller goes on in another session", {
    requests,
    caller: { ...caller, session: caller.session + 1, replies },
    left: spend(left, "sessions"),
  });
}

function sendAgain(state: State, intent: Intent, index: number, facts: Facts, offer: Offer): void {
  const { caller, requests, left } = state;
  const given = requests.filter((request) => request.intent === index && request.open);
  const answered = caller.replies.filter((reply) => reply.intent === index);
  const names = given.map(nameOf).join(", ");
  const as = intent.force === null ? "" : ` (force_new ${intent.force})`;
  const replies = caller.replies.filter((reply) => reply.intent !== index);
  const gives = (from: State, does: string, spent: State["left"]): void => {
    const { name, changes } = send(from, facts, { asks: "call", names: intent.force, intent: index });
    offer("caller", `${does} ${name}${as}`, {
      ...changes,
      caller: { ...caller, ...changes.caller, replies },
      left: spend(spent, "calls"),
    });
  };
  const silent = { ...state, requests: requests.map((one) => (given.includes(one) ? hungUp(one) : one)) };
  if (given.length === 0 && answered.length === 0) {
    gives(silent, "the caller sends", left);
    return;
  }
  // Over stdio no client gives up without a word within 10 s.
  const isSlow = given.every(({ slow }) => slow !== "no") && answered.every(({ isSlow: late }) => late);
  if (facts.way !== "stdio" || isSlow) {
    gives(silent, `the caller gives ${names} up and sends the call again as`, left);
  }
  const [first] = [...given.map(({ id }) => id), ...answered.map(({ request }) => request)];
  if (left.cancels === 0 || first === undefined) return;
  const asked = { asks: "cancel", names: null, intent: index } as const;
  const { changes } = send(silent, facts, {
    ...asked,
    caller: callerIn(requests, first),
    cancels: { id: first, isTimeout: true },
  });
  const cancelling = { ...silent, ...changes } as State;
  gives(cancelling, `the caller cancels #${first} and sends the call again as`, spend(left, "cancels"));
}

const callerIn = (requests: readonly Request[], id: number): string =>
  requests.find((one) => one.id === id)?.caller ?? "";

/** A user does not want any more what is under way; what it means next it means anew. */
function escapes(state: State, facts: Facts, offer: Offer): void {
  const { caller, requests, left } = state;
  for (const request of requests) {
    const intent = caller.intents[request.intent];
    if (!intent || intent.over || intent.isOthers || !request.open || request.at !== "waiting") continue;
    const closed = { ...state, requests: requests.map((one) => (one === request ? hungUp(one) : one)) };
    const { changes } = send(closed, facts, {
      ...({ asks: "cancel", names: null, intent: request.intent } as const),
      caller: request.caller,
      cancels: { id: request.id, isTimeout: false },
    });
    offer("caller", `the user cancels ${nameOf(request)}`, {
      ...changes,
      caller: {
        ...changes.caller,
        intents: replaced(caller.intents, intent, { ...intent, over: true, isEscaped: true }),
      },
      left: spend(left, "escs"),
    });
  }
}

/** Some clients cancel each call after they have read its answer. */
function cancelsLate(state: State, facts: Facts, offer: Offer): void {
  const { caller, history, requests, left } = state;
  for (const { request, intent } of history.reported) {
    const isOpen = requests.some(({ id }) => id === request);
    if (isOpen || caller.intents[intent]?.isOthers || !caller.intents[intent]?.over) continue;
    const { name, changes } = send(state, facts, {
      ...({ asks: "cancel", names: null, intent } as const),
      cancels: { id: request, isTimeout: false },
    });
    offer("caller", `the caller cancels #${request}, whose answer it has read: ${name}`, {
      ...changes,
      left: spend(left, "lateCancels"),
    });
  }
}

function newIntent(
  state: State,
  facts: Facts,
  { force, isOthers = false }: { force: string | null; isOthers?: boolean },
  does: string,
  left: State["left"],
  offer: Offer,
): void {
  const { caller } = state;
  const intent: Intent = {
    isOthers,
    force,
    over: false,
    logId: null,
    changes: caller.changes,
    mutations: state.store.mutations,
  };
  const by = isOthers ? { caller: "somebody else" } : {};
  const { name, changes } = send(state, facts, {
    ...({ asks: "call", names: force, intent: caller.intents.length } as const),
    ...by,
  });
  offer("caller", `the caller ${does}: ${name}`, {
    ...changes,
    caller: { ...caller, lastId: caller.lastId + 1, intents: [...caller.intents, intent] },
    left: spend(left, "calls"),
  });
}

function send(
  state: State,
  { hasSessions }: Facts,
  asked: Asked,
): { name: string; changes: Pick<State, "caller" | "requests"> } {
  const id = state.caller.lastId + 1;
  const isOthers = state.caller.intents[asked.intent]?.isOthers ?? asked.caller !== undefined;
  const session = isOthers ? "somebody else" : sessionOf(state);
  const request: Request = {
    id,
    isDouble: false,
    caller: hasSessions ? session : `request ${id}`,
    target: isOthers ? (state.editors.at(-1)?.id ?? null) : null,
    cancels: null,
    open: asked.asks !== "cancel",
    isDropped: false,
    slow: "no",
    relation: null,
    at: "network",
    ...asked,
  };
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
