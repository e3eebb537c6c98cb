/**
 * recover(record, answer): what an owner does with what it finds when it asks the Editor about an operation.
 * The answer may come right after the first send, after a reconnect, a domain reload, or in another process.
 */
import { lookUp, type Sought } from "./decide.js";
import { isFinal, type OperationRecord, type State } from "./operation.js";
import type { Moment, ReplayOptions } from "./replay.js";
import { EDITOR_CODES, type GetAnswer, type Outcome, type SubmitAnswer } from "./wire.js";

/** Stands for a code where the Editor answered with something that cannot be read. */
export const UNREADABLE = 0;

/** The Editor's error answer, by its code (docs/protocol.md, "Codes"), or UNREADABLE. */
export interface Refusal {
  code: number;
  message: string;
}

export type Found =
  | { asked: "submit"; answer: SubmitAnswer }
  | { asked: "get"; answer: GetAnswer }
  | { asked: "submit"; refusal: Refusal };

export interface Surroundings {
  /** The Editor session that answered. */
  session: string;
  /** What the store knows of the operation that the Editor named in its place (`same_as`). */
  other?: OtherOperation | undefined;
  retentionMs: number;
  options?: ReplayOptions | undefined;
}

/** The operation that an Editor names with `same_as`, as the store knows it, restored by then if it had been lost. */
export interface OtherOperation extends Moment {
  /** Undefined: it could not be restored either, because nobody knows whose it is. */
  record: OperationRecord | undefined;
  /** Its retention ended: the store knew it before the asking operation was accepted. */
  isTombstone: boolean;
}

export type Recovery =
  /** It waits or runs there: follow it; with `executedAs` another operation answers the call: take its outcome. */
  | { kind: "attach"; executedAs?: string }
  | { kind: "settle"; outcome: Outcome }
  /**
   * The same id again; with another `after` where the store's memory is behind the Editor's; `instead` of an earlier
   * submit of the same call that never began and shall not any more.
   */
  | { kind: "resubmit"; after?: string; returned?: boolean; instead?: string }
  /** Tell the Editor never to run it; once that is journalled call it interrupted, else ask again. */
  | { kind: "revoke"; why: string; type?: "ledger_lost" }
  | { kind: "interrupt"; why: string; type?: "ledger_lost" }
  | { kind: "fail"; type: string; message: string };

/** Pure. Never answers "run it under another id": the id is the operation. */
export function recover(record: OperationRecord, found: Found, around: Surroundings): Recovery {
  if ("refusal" in found) return afterRefusal(found.refusal);
  const { answer } = found;
  if (answer.state === "same_as") return afterSameAs(record, answer as SameAs, around);
  switch (answer.state) {
    case "running":
      return { kind: "attach" };
    case "accepted":
      return isBehind(record) ? LEDGER_LOST : { kind: "attach" };
    case "not_started":
      if (isBehind(record)) return LEDGER_LOST;
      return record.rebuilt ? NOT_STARTED : { kind: "resubmit", returned: true };
    case "revoked":
      return { kind: "interrupt", why: "The Editor was told never to run it." };
    case "unknown":
      if (record.effect === "read_only") return { kind: "resubmit" };
      if (isBehind(record)) return LEDGER_LOST;
      // ▲12 In the session it was sent in, the ledger holds whatever arrived: not there means not arrived, and the
      // same id may follow. In another session the ledger may have lost it: never call that "not started".
      return record.sentIn === undefined || record.sentIn === around.session
        ? { kind: "resubmit" }
        : FORGOTTEN;
    default: {
      const outcome = (answer as { outcome?: Outcome }).outcome;
      return outcome
        ? { kind: "settle", outcome }
        : { kind: "interrupt", why: "The Editor knows that it ended, not how." };
    }
  }
}

const FORGOTTEN: Recovery = {
  kind: "revoke",
  why: "The Editor was restarted and does not know this operation.",
};

const LEDGER_LOST: Recovery = {
  kind: "revoke",
  type: "ledger_lost",
  why: "The Editor's ledger lacks what the broker has seen of it (it was lost, or an older copy was put back).",
};

const NOT_STARTED: Recovery = {
  kind: "fail",
  type: "not_started",
  message: "The Editor was restarted before it began, and its arguments were lost with the broker's store.",
};

/** ▲10 (c) The store knows more of this operation than the ledger does, so what the ledger lacks proves nothing. */
function isBehind(record: OperationRecord): boolean {
  return record.effect !== "read_only" && (record.ledgerLost === true || record.state === "running");
}

type SameAs = Extract<SubmitAnswer, { state: "same_as" }>;

/**
 * ▲10 (b) The Editor has another latest operation of this hash than this one was accepted after, and has run nothing.
 * What entered the store before this operation was known when that was accepted; anything else is decided on as if
 * the call came now.
 */
function afterSameAs(record: OperationRecord, answer: SameAs, around: Surroundings): Recovery {
  const { operationId, stateThere, endedAt } = answer;
  const { other } = around;
  const again: Recovery = { kind: "resubmit", after: operationId };
  if (!other || other.isTombstone || record.supersedes === operationId) return again;
  if (other.record === undefined) return NOBODYS;
  if (enteredOf(other.record) < enteredOf(record)) return again;
  if (stateThere === "not_started") return { kind: "resubmit", instead: operationId };
  const isOpen = stateThere === "accepted" || stateThere === "running";
  if (!isOpen && endedAt !== undefined && endedAt + around.retentionMs < other.now) return again;
  return afterLookUp(record, asItIsThere(other.record, stateThere), other, around.options);
}

/**
 * A restored record is `dispatched` until it is known what became of it. What is not mutating is decided on as the
 * Editor has it: what has ended there may have been told, and is not joined as if it were in flight.
 */
function asItIsThere(other: OperationRecord, stateThere: SameAs["stateThere"]): OperationRecord {
  if (other.effect === "mutating" || isFinal(other.state)) return other;
  const isOpen = stateThere === "accepted" || stateThere === "running";
  const state = isOpen ? "running" : (stateThere as State);
  return { ...other, state, startedAt: other.startedAt ?? other.acceptedAt };
}

function afterLookUp(
  record: OperationRecord,
  other: OperationRecord,
  moment: Moment,
  options: ReplayOptions | undefined,
): Recovery {
  const isForcedToo = record.supersedes !== undefined && other.supersedes === record.supersedes;
  const snapshot = {
    ...moment,
    newest: other.logId,
    records: [other],
    ...(isForcedToo ? { forced: other } : {}),
  };
  const found = lookUp(snapshot, creatingRequestOf(record), options);
  switch (found?.kind) {
    case "join":
    case "replay":
      return { kind: "attach", executedAs: other.logId };
    case "refuse":
      return { kind: "fail", type: KEY_CONFLICT, message: OTHER_CALL };
    default:
      return { kind: "resubmit", after: other.logId };
  }
}

/** The call that created the operation, to be decided on again. */
function creatingRequestOf(record: OperationRecord): Sought {
  const { caller, requestId, transport = "http" } = record.createdBy;
  return {
    caller: caller === null ? null : { id: caller, transport },
    requestId,
    fingerprint: record.fingerprint,
    target: { kind: "named", editor: record.editor },
    keyed: record.keyed,
    forceNew: record.supersedes,
  };
}

/** Schema 2 counted the place in the chain only. */
function enteredOf(record: OperationRecord): number {
  return record.entered ?? record.order;
}

const NOBODYS: Recovery = {
  kind: "interrupt",
  why: "The Editor has executed this call for a client that it does not name, so whose outcome it has is not known.",
};

/** Why a call that was accepted never began: its key belongs to another call (▲3), which the store had lost. */
export const KEY_CONFLICT = "idempotency_conflict";
const OTHER_CALL =
  "The idempotency_key belongs to a call with other arguments, which the broker's store had lost.";

function afterRefusal({ code, message }: Refusal): Recovery {
  switch (code) {
    case EDITOR_CODES.LEDGER_LOST:
    case EDITOR_CODES.RETIRED:
    case EDITOR_CODES.REVOKED:
    case EDITOR_CODES.OPERATION_ID_CONFLICT:
    case UNREADABLE:
      return { kind: "interrupt", why: message };
    case EDITOR_CODES.UNKNOWN_TOOL:
      return { kind: "fail", type: "unknown_tool", message };
    case EDITOR_CODES.LEDGER_UNAVAILABLE:
      return { kind: "fail", type: "ledger_unavailable", message };
    case EDITOR_CODES.FRAME_TOO_LARGE:
      return { kind: "fail", type: "frame_too_large", message };
    default:
      return { kind: "fail", type: "refused", message };
  }
}
