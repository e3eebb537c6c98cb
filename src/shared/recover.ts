/**
 * recover(record, answer): what an owner does with what it finds when it asks the Editor about an operation.
 * The answer may come right after the first send, after a reconnect, a domain reload, or in another process.
 */
import type { OperationRecord } from "./operation.js";
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
  /** What ran before this call was wished, by the store's own frozen links: the ids before `after`, and `executedAs`. */
  ancestors: readonly string[];
  /** ms since the epoch; an outcome older than the retention answers nobody. */
  now: number;
  retentionMs: number;
}

export type Recovery =
  /** It waits or runs there: follow it; under another id when the Editor executed the call as that one. */
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

/** ▲10 The Editor has another latest operation of this hash than the store believed. */
function afterSameAs(record: OperationRecord, answer: SameAs, around: Surroundings): Recovery {
  const other = answer.operationId;
  // The store knows it and knows that this call was wished after it (it expired or was cancelled in between).
  if (around.ancestors.includes(other)) return { kind: "resubmit", after: other };
  // A forced operation never takes the outcome of what it supersedes, nor of anything before it. Any other one that
  // the store has forgotten is this same forced call, made before (▲8).
  if (record.supersedes === other) return { kind: "resubmit", after: other };
  if (answer.stateThere === "not_started") return { kind: "resubmit", instead: other };
  const isOpen = answer.stateThere === "accepted" || answer.stateThere === "running";
  const isStale = answer.endedAt !== undefined && answer.endedAt + around.retentionMs < around.now;
  if (isStale && !isOpen) return { kind: "resubmit", after: other };
  // The store has forgotten it, so nobody can have confirmed it: this call is a retry of that one.
  return { kind: "attach", executedAs: other };
}

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
