/** A caller: an assistant and its client, which gives up, sends again, is overtaken, and wishes anew what it has read. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Channel } from "../../src/gateway/mcp/open-request.js";
import { isFinal } from "../../src/shared/operation.js";
import type { Gateway, Session, Told } from "./gateway.js";
import type { Wish } from "./oracle.js";
import { readRecord } from "./store.js";
import type { World } from "./world.js";

interface Letter {
  session: Session;
  message: JSONRPCMessage;
  channel: Channel;
  /** 0: no request. */
  requestId: number;
}

interface OpenRequest {
  wish?: Wish;
  cut: AbortController;
  sentAt: number;
  /** Mutating operations that were accepted by then. */
  mutations: number;
}

type Call = Pick<Wish, "tool" | "arguments">;
const BUILD: Call = { tool: "build", arguments: { target: "Android" } };
const CALLS: readonly Call[] = [
  BUILD,
  { tool: "build", arguments: { target: "Android", idempotency_key: "nightly" } },
  { tool: "set", arguments: { value: "a" } },
  { tool: "look", arguments: {} },
];

const sameCall = (a: Call, b: Call): boolean =>
  a.tool === b.tool && JSON.stringify(a.arguments) === JSON.stringify(b.arguments);

export type Client = ReturnType<typeof createClient>;

export function createClient(world: World, kind: "stdio" | "http", principal: string, name: string) {
  const { random, oracle } = world;
  let letters: Letter[] = [];
  /** Copies of requests, kept back by something in between. */
  const late: Letter[] = [];
  let replies: { requestId: number; told: Told | undefined }[] = [];
  const open = new Map<number, OpenRequest>();
  const wishes = new Map<string, Wish>();
  let gateway: Gateway | undefined;
  let session: Session;
  let sessions = 0;
  let lastId = 0;
  /** Over stdio the broker orders requests by their arrival: the number of each message, by its JSON-RPC id. */
  let posted = 0;
  const orders = new Map<unknown, number>();
  const orderOf = (requestId: unknown): unknown => (kind === "stdio" ? orders.get(requestId) : requestId);

  const channelOf = (own: Session, requestId: number, cut: AbortController, isRead: boolean): Channel => ({
    gone: cut.signal,
    discard: async () => undefined,
    async write(answer) {
      if (cut.signal.aborted) return false;
      const told = (answer as { result?: { told?: Told } }).result?.told;
      if (told && isFinal(told.record.state)) oracle.writes(own, orderOf(requestId), told.record);
      if (isRead && own.caller.id === session.caller.id) replies.push({ requestId, told });
      return true;
    },
  });
  const post = (message: JSONRPCMessage, requestId = 0, cut = new AbortController()): void => {
    posted += 1;
    letters.push({ session, message, requestId, channel: channelOf(session, requestId, cut, true) });
  };

  const request = (method: string, params: Record<string, unknown>, wish?: Wish): void => {
    const id = ++lastId;
    const cut = new AbortController();
    open.set(id, { cut, sentAt: world.now(), mutations: world.mutations(), ...(wish ? { wish } : {}) });
    wish?.waiting.add(id);
    orders.set(id, posted + 1);
    if (wish) oracle.sends(session.caller.id, orderOf(id), wish);
    post({ jsonrpc: "2.0", id, method, params }, id, cut);
  };
  const useTool = (tool: string, args: object, wish?: Wish): void =>
    request("tools/call", { name: tool, arguments: args }, wish);

  /** Sends the call of a wish, first or again. Who still waits does not; who knows the log_id asks for that. */
  const pursue = (wish: Wish): void => {
    const isAskedFor = wish.logId !== undefined && !wish.over && !world.options.strict;
    const isForgotten = wish.supersedes !== undefined && world.wentBack() && !world.options.strict;
    if (wish.waiting.size > 0 || isAskedFor || isForgotten) return;
    const force = wish.supersedes === undefined ? {} : { force_new: wish.supersedes };
    useTool(wish.tool, { ...wish.arguments, ...force, timeout: random.pick([0, 1, 20]) }, wish);
  };

  const wishFor = (call: Call, supersedes?: string): Wish => {
    const identity = JSON.stringify([call, supersedes]);
    const before = wishes.get(identity);
    // A forced call is the same wish however often it is sent; a plain one is another once its outcome was read.
    if (before && (!before.over || supersedes !== undefined)) return before;
    const deliberate = before !== undefined || supersedes !== undefined;
    const wish: Wish = { ...call, deliberate, over: false, waiting: new Set() };
    if (supersedes !== undefined) wish.supersedes = supersedes;
    wishes.set(identity, wish);
    return wish;
  };

  const giveUp = (): void => {
    const [requestId, given] = random.pick([...open]) ?? [];
    if (requestId === undefined || !given) return;
    // The timeouts of stdio clients are long; over HTTP a connection may break at any time.
    if (kind === "stdio" && world.now() - given.sentAt < 10_000) return;
    open.delete(requestId);
    given.wish?.waiting.delete(requestId);
    if (kind === "http" && random.chance(0.5)) void world.network().then(() => given.cut.abort());
    if (kind === "http" && random.chance(0.7)) return;
    post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  };

  const learn = ({ record, result }: Told, { wish, mutations }: OpenRequest): void => {
    const { logId } = record;
    if (record.principal !== principal) oracle.fail(`${name} reads an operation of ${record.principal}`);
    const isPlain = wish && wish.supersedes === undefined && !record.keyed;
    if (record.effect !== "mutating" && isPlain && record.mutationSeq < mutations && !world.wentBack()) {
      oracle.fail(`${name} is told of ${logId}, older than a mutation before the call`);
    }
    const instead = record.executedAs && readRecord(world.store, record.executedAs);
    // A forced run that overtook what it supersedes is told in its place; otherwise only lost memory explains it.
    // What is shown of it is the other one's.
    const order = readRecord(world.store, logId)?.order ?? record.order;
    if (record.executedAs && !world.wentBack() && !(instead && instead.order > order)) {
      oracle.fail(`${logId} takes the outcome of ${record.executedAs}`);
    }
    if (record.supersedes && record.executedAs === record.supersedes)
      oracle.fail(`${logId} takes what it supersedes`);
    if (wish) wish.logId = logId;
    if (!isFinal(record.state)) return;
    if (record.state === "completed" && result === undefined && !world.wentBack())
      oracle.fail(`${logId} has lost its result`);
    for (const known of wishes.values()) {
      if (known === wish || known.logId === logId) known.over = true;
      // Who read how a forced run of the call ended and then calls plainly again, wishes for the next one.
      const isOfSameCall = wish?.supersedes !== undefined && sameCall(known, wish);
      if (isOfSameCall && known.supersedes === undefined && known.waiting.size === 0) known.over = true;
    }
  };

  const cancel = (): void => {
    const wish = random.pick([...wishes.values()].filter((one) => one.logId !== undefined && !one.over));
    if (!wish || !random.chance(0.4)) return;
    wish.over = true;
    useTool("cancel_operation", { log_id: wish.logId });
  };

  const connect = (): void => {
    if (kind === "stdio") {
      gateway?.kill();
      letters = [];
    }
    sessions += 1;
    lastId = 0;
    posted = 0;
    orders.clear();
    open.clear();
    replies = [];
    for (const wish of wishes.values()) wish.waiting.clear();
    gateway = kind === "stdio" ? world.newGateway() : world.sharedGateway();
    session = gateway.openSession({ id: `${name}.${sessions}`, transport: kind }, principal);
  };
  /** The gateway was restarted: over HTTP the session goes on in another one. */
  const move = (): void => {
    if (gateway?.isAlive()) return;
    if (kind === "stdio") connect();
    else {
      gateway = world.sharedGateway();
      session = gateway.openSession(session.caller, principal);
    }
  };
  connect();

  const deliver = (from: Letter[]): void => {
    const index = kind === "stdio" ? 0 : random.int(from.length);
    const [letter] = from.splice(index, 1);
    if (!letter) return;
    const { message, requestId, session: own } = letter;
    const isForced = JSON.stringify(message).includes("force_new");
    if (isForced && world.wentBack() && !world.options.strict) return;
    if (requestId > 0 && kind === "http" && random.chance(0.2)) {
      late.push({ ...letter, channel: channelOf(own, requestId, new AbortController(), false) });
    }
    const isHeard = own.arrives(message, letter.channel);
    if (isHeard && "method" in message && message.method === "notifications/cancelled") {
      oracle.retracts(own, orderOf(message.params?.requestId));
    }
  };
  const read = (): void => {
    const [reply] = replies.splice(kind === "stdio" ? 0 : random.int(replies.length), 1);
    const asked = reply && open.get(reply.requestId);
    if (!reply || !asked) return;
    open.delete(reply.requestId);
    asked.wish?.waiting.delete(reply.requestId);
    if (reply.told) learn(reply.told, asked);
    else if (asked.wish && !world.wentBack()) oracle.fail(`${name} is told nothing of its call`);
  };

  const everything: readonly (() => void)[] = [
    () => pursue(wishFor(random.chance(0.6) ? BUILD : (random.pick(CALLS) ?? BUILD))),
    () => {
      const wish = random.pick([...wishes.values()]);
      if (wish && (!wish.over || wish.supersedes !== undefined)) pursue(wish);
    },
    () => {
      const wish = random.pick([...wishes.values()]);
      if (wish?.logId !== undefined && random.chance(0.3))
        pursue(wishFor({ tool: wish.tool, arguments: wish.arguments }, wish.logId));
    },
    () => {
      const wish = random.pick([...wishes.values()]);
      if (wish?.logId !== undefined) useTool("get_operation_result", { log_id: wish.logId });
    },
    giveUp,
    giveUp,
    cancel,
    () => request("ping", {}),
  ];
  const habits = everything.filter(() => random.chance(0.6));

  return {
    act: () => random.pick(random.chance(0.4) ? everything : habits)?.(),
    deliver: () => {
      do deliver(letters);
      while (letters.length > 0 && random.chance(0.5));
    },
    deliverLate: () => deliver(late),
    read,
    connect,
    move,
    isQuiet: () => letters.length === 0 && replies.length === 0,
  };
}
