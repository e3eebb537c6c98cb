/** The history of one operation from its record: what happened when, and why it ran once. */
import { head } from "../printable.js";
import type { RpcId } from "../wire/rpc.js";
import { type Asking, isFinal, type OperationRecord, SINGLE_REQUEST } from "./operation.js";

/** A call that found this operation instead of creating one. */
export interface Duplicate {
  /** ms since the epoch, store clock. */
  at: number;
  relation: "joined" | "replayed";
  caller: string | null;
  requestId: RpcId | null;
  /** What the calling client calls itself (clientLabel). */
  client?: string;
  /** The log_id that an operation of this very request would have: it may be sent again, to another broker. */
  wouldBe?: string;
}

/** Most duplicates of an operation that are kept: the newest. */
export const MOST_DUPLICATES = 100;

/**
 * How the newest call of this caller found the operation; undefined: the caller made none, or created it. A full list has lost its
 * oldest entries, so a caller that it does not name may have been among them: in doubt it is told that the outcome is not new.
 */
export function relationOf(
  caller: string,
  duplicates: readonly Duplicate[],
): Duplicate["relation"] | undefined {
  // What was lost is older than all that is kept, and calls join before any is answered by a replay.
  const lost = duplicates.length < MOST_DUPLICATES ? undefined : duplicates[0];
  return (duplicates.findLast((each) => each.caller === caller) ?? lost)?.relation;
}

export interface TimelineEntry {
  /** ISO 8601. */
  at: string;
  event: string;
  detail?: string;
}

/** Pure. Ordered by time; simultaneous entries in the order of an operation's life. */
export function timelineOf(record: OperationRecord, duplicates: readonly Duplicate[]): TimelineEntry[] {
  const entries: { at: number; event: string; detail?: string | undefined }[] = [];
  const add = (at: number | undefined, event: string, detail?: string): void => {
    if (at !== undefined) entries.push({ at, event, detail });
  };
  add(record.acceptedAt, "accepted", whatFor(record));
  for (const { at, relation, caller, requestId, client } of duplicates)
    add(at, relation, `by ${who(caller, requestId)}${named(client)}`);
  add(record.dispatchedAt, "sent", `to ${record.editor}${takenFrom(record)}`);
  add(record.startedAt, "started");
  add(record.abandonedAt, "given up", "by its client, which had not received its log_id");
  add(
    record.cancel?.requestedAt,
    "cancel asked",
    [canceller(record), record.cancel?.answer].filter(Boolean).join(": "),
  );
  add(record.endedAt, record.state, record.cancel ? ending(record) : (canceller(record) ?? ending(record)));
  for (const [caller, { deliveredAt, hasRead }] of Object.entries(record.askers ?? {}))
    add(deliveredAt, "delivered", `to ${who(caller, null)}${hasRead ? ", which has read it" : ""}`);
  return entries
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, event, detail }) => ({
      at: new Date(at).toISOString(),
      event,
      ...(detail ? { detail } : {}),
    }));
}

/** One sentence: how often it was requested, and how often it ran. */
export function whyOnce(record: OperationRecord, duplicates: readonly Duplicate[]): string {
  const joined = duplicates.filter(({ relation }) => relation === "joined").length;
  const replayed = duplicates.length - joined;
  const found = [
    ...(joined > 0 ? [`${joined} joined it while it was in flight`] : []),
    ...(replayed > 0 ? [`${replayed} received its recorded outcome`] : []),
  ];
  const asked =
    duplicates.length === 0
      ? "One call asked for it; no duplicate arrived."
      : `${duplicates.length + 1} calls asked for it: one created it, ${found.join(", ")}.`;
  return `${asked} ${execution(record)}`;
}

function execution(record: OperationRecord): string {
  if (record.executedAs)
    return `The Editor had executed this call before, as ${record.executedAs}; it was not run again.`;
  if (record.state === "interrupted")
    return "Whether the Editor executed it is unknown; it is not run again automatically.";
  if (record.startedAt !== undefined)
    return isFinal(record.state)
      ? "The Editor executed it once."
      : "The Editor began it once and has not reported its outcome yet.";
  return isFinal(record.state) ? "The Editor never began it." : "The Editor has not begun it yet.";
}

function whatFor({ createdBy, supersedes, pool }: OperationRecord): string {
  const by = `from ${who(createdBy.caller, createdBy.requestId)}${pool === undefined ? "" : `, for ${pool}`}`;
  return supersedes === undefined ? by : `${by}, to run ${supersedes} again`;
}

function takenFrom({ pool }: OperationRecord): string {
  return pool === undefined ? "" : `, which took it from ${pool}`;
}

function canceller({ state, cancel, cancelledBy }: OperationRecord): string | undefined {
  if (cancelledBy === undefined || !(cancel || state === "cancelled")) return undefined;
  return `by ${who(cancelledBy, null)}`;
}

function ending({ error, executionMs }: OperationRecord): string | undefined {
  if (error) return error.message;
  return executionMs === undefined ? undefined : `after ${executionMs / 1000} s`;
}

/** In quotes that it cannot end: the client chose it. */
function named(client: string | undefined): string {
  return client === undefined ? "" : `, named "${client.replaceAll('"', "'")}"`;
}

/** What a caller's id begins with. */
const KINDS: Readonly<Record<string, string>> = {
  mcp: "HTTP session",
  stdio: "stdio process",
  cli: "command line",
  rest: "REST client",
};

/** Shows only the beginning of a caller's id: enough to tell callers apart without revealing the id. */
function who(caller: string | null, requestId: RpcId | null): string {
  if (caller === null || caller.startsWith(SINGLE_REQUEST)) return "a request without a session";
  const [kind = "", id = ""] = caller.split(":");
  const named = KINDS[kind] ?? kind;
  // A request of the REST API has an id of the broker's own, which says nothing to anybody.
  const request = requestId === null || kind === "rest" ? "" : ` (request ${requestId})`;
  return `${named} ${head(id, 8)}${request}`;
}

// The calls that one operation answers, each with when it came and when it got the outcome. Pure.

interface AnsweredCall {
  /** `read`: no call, but a caller that has received the outcome by its log_id. */
  relation: "created" | "joined" | "replayed" | "read";
  /** ISO 8601: when it came; of one that read, when it did. */
  at: string;
  /** As in the timeline: enough to tell callers apart. */
  caller: string;
  client?: string;
  /** When its caller got the outcome, by this call's answer or by reading it later. */
  delivered_at?: string;
  /** Its caller is known to have read it. */
  has_read?: true;
}

interface Asked {
  relation: "created" | "joined" | "replayed";
  at: number;
  caller: string | null;
  requestId: RpcId | null;
  client?: string | undefined;
}

/** By time. What a caller received is shown with its last call before that. */
export function callsOf(record: OperationRecord, duplicates: readonly Duplicate[]): AnsweredCall[] {
  const { createdBy, acceptedAt, askers = {} } = record;
  const asked: Asked[] = [
    { relation: "created", at: acceptedAt, ...createdBy },
    ...duplicates.toSorted((a, b) => a.at - b.at),
  ];
  const answered = new Map<Asked, Received>();
  const read: AnsweredCall[] = [];
  for (const [caller, { deliveredAt, hasRead }] of Object.entries(askers)) {
    if (deliveredAt === undefined) continue;
    const received: Received = { deliveredAt, ...(hasRead ? { hasRead } : {}) };
    const call = asked.findLast((each) => each.caller === caller && each.at <= deliveredAt);
    if (call) answered.set(call, received);
    else read.push({ relation: "read", at: iso(deliveredAt), caller: who(caller, null), ...told(received) });
  }
  const calls = asked.map((call): AnsweredCall => {
    const { relation, at, caller, requestId, client } = call;
    const received = answered.get(call);
    return {
      ...{ relation, at: iso(at), caller: who(caller, requestId) },
      ...(client === undefined ? {} : { client }),
      ...(received ? told(received) : {}),
    };
  });
  return [...calls, ...read.sort((a, b) => (a.at < b.at ? -1 : 1))];
}

type Received = Asking & { deliveredAt: number };

function told({ deliveredAt, hasRead }: Received): Pick<AnsweredCall, "delivered_at" | "has_read"> {
  return { delivered_at: iso(deliveredAt), ...(hasRead ? { has_read: true } : {}) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
