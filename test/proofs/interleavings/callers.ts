/** A caller: an assistant and its client, which gives up, sends again, is overtaken, and intents anew what it has read. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Channel } from "../../../src/gateway/mcp/request-tracker.js";
import { isFinal } from "../../../src/shared/operation/operation.js";
import type { CallAnswer, Gateway, Session } from "./gateway.js";
import type { Intent } from "./oracle.js";
import { readRecord } from "./store.js";
import type { World } from "./world.js";

interface Letter {
  session: Session;
  message: JSONRPCMessage;
  channel: Channel;
  /** 0: no request. */
  requestId: number;
  sentAt: number;
}

interface OpenRequest {
  intent?: Intent;
  cut: AbortController;
  sentAt: number;
  /** Mutating operations that were accepted by then. */
  mutations: number;
}

type Call = Pick<Intent, "tool" | "arguments">;
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
  let replies: { requestId: number; reported: CallAnswer | undefined }[] = [];
  const open = new Map<number, OpenRequest>();
  /** By the request: the connections of its copies. */
  const copies = new Map<number, AbortController[]>();
  const intents = new Map<string, Intent>();
  let gateway: Gateway | undefined;
  let session: Session;
  let sessions = 0;
  let lastId = 0;

  const channelOf = (own: Session, requestId: number, cut: AbortController, isRead: boolean): Channel => ({
    gone: cut.signal,
    // Over HTTP there is a proxy, which delays and loses what it likes.
    isDirect: kind === "stdio",
    discard: async () => undefined,
    async write(answer) {
      if (cut.signal.aborted) return false;
      const reported = (answer as { result?: { reported?: CallAnswer } }).result?.reported;
      if (reported && isFinal(reported.record.state)) oracle.writes(reported.record);
      if (!isRead || own.caller.id !== session.caller.id) return true;
      replies.push({ requestId, reported });
      // What sends copies ends them with the request.
      for (const copy of copies.get(requestId) ?? []) copy.abort();
      // Over a direct connection what is written is read.
      if (kind === "stdio") read();
      return true;
    },
  });
  const post = (message: JSONRPCMessage, requestId = 0, cut = new AbortController()): void => {
    const channel = channelOf(session, requestId, cut, true);
    letters.push({ session, message, requestId, channel, sentAt: world.now() });
  };

  const request = (method: string, params: Record<string, unknown>, intent?: Intent): void => {
    const id = ++lastId;
    const cut = new AbortController();
    open.set(id, { cut, sentAt: world.now(), mutations: world.mutations(), ...(intent ? { intent } : {}) });
    intent?.waiting.add(id);
    if (intent) oracle.sends(session.caller.id, id, intent);
    post({ jsonrpc: "2.0", id, method, params }, id, cut);
  };
  const useTool = (tool: string, args: object, intent?: Intent): void =>
    request("tools/call", { name: tool, arguments: args }, intent);

  /**
   * Sends the call of an intent, first or again. Who still waits does not; who knows the log_id asks for that, and so has read
   * what was delivered of it: a call after that is a new one.
   */
  const pursue = (intent: Intent): void => {
    const isAskedFor = intent.logId !== undefined && !intent.over;
    if (intent.waiting.size > 0 || isAskedFor) return;
    const force = intent.supersedes === undefined ? {} : { force_new: intent.supersedes };
    useTool(intent.tool, { ...intent.arguments, ...force, timeout: random.pick([0, 1, 20]) }, intent);
  };

  const intentFor = (call: Call, supersedes?: string): Intent => {
    const identity = JSON.stringify([call, supersedes]);
    const before = intents.get(identity);
    // A forced call is the same intent however often it is sent; a plain one is another once its outcome was read.
    if (before && (!before.over || supersedes !== undefined)) return before;
    const intent: Intent = { ...call, over: false, waiting: new Set() };
    if (supersedes !== undefined) intent.supersedes = supersedes;
    intents.set(identity, intent);
    return intent;
  };

  const giveUp = (): void => {
    const [requestId, given] = random.pick([...open]) ?? [];
    if (requestId === undefined || !given) return;
    // The timeouts of stdio clients are long; over HTTP a connection may break at any time.
    if (kind === "stdio" && world.now() - given.sentAt < 10_000) return;
    open.delete(requestId);
    given.intent?.waiting.delete(requestId);
    for (const copy of copies.get(requestId) ?? []) copy.abort();
    if (kind === "http") void world.network().then(() => given.cut.abort());
    if (kind === "http" && random.chance(0.7)) return;
    const reason = random.chance(0.7) ? { reason: "Request timed out" } : {};
    post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, ...reason } });
  };

  const learn = ({ record, result }: CallAnswer, { intent, mutations }: OpenRequest): void => {
    const { logId } = record;
    if (record.principal !== principal) oracle.fail(`${name} reads an operation of ${record.principal}`);
    const isPlain = intent && intent.supersedes === undefined && !record.keyed;
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
    if (intent) intent.logId = logId;
    if (!isFinal(record.state)) return;
    if (record.state === "completed" && result === undefined && !world.wentBack())
      oracle.fail(`${logId} has lost its result`);
    const learnt = [...intents.values()].filter((known) => known === intent || known.logId === logId);
    for (const known of learnt) known.over = true;
    // Who read how a forced run of the call ended and then calls plainly again, intents for the next one.
    const forced = learnt.filter(({ supersedes }) => supersedes !== undefined);
    for (const known of intents.values()) {
      const isOfSameCall = forced.some((one) => sameCall(known, one));
      if (isOfSameCall && known.supersedes === undefined && known.waiting.size === 0) known.over = true;
    }
  };

  const cancel = (): void => {
    const intent = random.pick([...intents.values()].filter((one) => one.logId !== undefined && !one.over));
    if (!intent || !random.chance(0.4)) return;
    intent.over = true;
    useTool("cancel_operation", { log_id: intent.logId });
  };

  const connect = (): void => {
    if (kind === "stdio") {
      gateway?.kill();
      letters = [];
    }
    sessions += 1;
    lastId = 0;
    open.clear();
    replies = [];
    for (const intent of intents.values()) intent.waiting.clear();
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
    // What sends copies ends them with the request, and sends none of one that is answered.
    const isUnanswered = open.has(requestId) && replies.every((reply) => reply.requestId !== requestId);
    if (isUnanswered && kind === "http" && random.chance(0.2)) {
      const copy = new AbortController();
      copies.set(requestId, [...(copies.get(requestId) ?? []), copy]);
      late.push({ ...letter, channel: channelOf(own, requestId, copy, false) });
    }
    // A pipe keeps a message while its reader stands still, which the reader notices.
    const waitedMs = kind === "stdio" ? world.now() - letter.sentAt : 0;
    own.arrives(message, { ...letter.channel, waitedMs });
  };
  const read = (): void => {
    const [reply] = replies.splice(kind === "stdio" ? 0 : random.int(replies.length), 1);
    const asked = reply && open.get(reply.requestId);
    if (!reply || !asked) return;
    open.delete(reply.requestId);
    asked.intent?.waiting.delete(reply.requestId);
    if (reply.reported) learn(reply.reported, asked);
    else if (asked.intent && !world.wentBack()) oracle.fail(`${name} is told nothing of its call`);
  };

  const everything: readonly (() => void)[] = [
    () => pursue(intentFor(random.chance(0.6) ? BUILD : (random.pick(CALLS) ?? BUILD))),
    () => {
      const intent = random.pick([...intents.values()]);
      if (intent && (!intent.over || intent.supersedes !== undefined)) pursue(intent);
    },
    () => {
      const intent = random.pick([...intents.values()]);
      if (intent?.logId !== undefined && random.chance(0.3))
        pursue(intentFor({ tool: intent.tool, arguments: intent.arguments }, intent.logId));
    },
    () => {
      const intent = random.pick([...intents.values()]);
      if (intent?.logId !== undefined) useTool("get_operation_result", { log_id: intent.logId });
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
