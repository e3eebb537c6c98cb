/**
 * recover(record, answer): what an owner does with the Editor's answer about an operation. The answer may come after
 * the first send, a reconnect or a domain reload, or in another process.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { effectOfTool, type Tool } from "../tools/tool.js";
import {
  EDITOR_CODES,
  type GetAnswer,
  type LedgerState,
  type ListedOperation,
  type Outcome,
  RecoveryMetadata,
  type SubmitAnswer,
} from "../wire/wire.js";
import type { Moment, ReplayOptions } from "./again.js";
import { lookUp, type Sought } from "./decide.js";
import { isFinal, isFromBeforeLoss, type OperationRecord, type State } from "./operation.js";

/** Stands for the code of an answer that cannot be read. */
export const UNREADABLE = 0;

/** The Editor's error answer, by its code (docs/reference/protocol.md, "Codes"), or UNREADABLE. */
export interface Refusal {
  code: number;
  message: string;
}

export type EditorReply =
  | { asked: "submit"; answer: SubmitAnswer }
  | { asked: "get"; answer: GetAnswer }
  | { asked: "submit"; refusal: Refusal };

export interface RecoveryContext {
  /** The Editor session that answered. */
  session: string;
  /** The store's incarnation in which the Editor's operations were imported (▲13). */
  incarnation: string;
  /** The store's knowledge of the operation that the Editor named instead (`same_as`). */
  other?: OtherOperation | undefined;
  options?: ReplayOptions | undefined;
}

/** The operation that an Editor names with `same_as`, as the store knows it, after a lost one was restored. */
export interface OtherOperation extends Moment {
  /** Undefined: it could not be restored either, because its caller is unknown. */
  record: OperationRecord | undefined;
  /** Its retention has ended, by the clock of the Editor's machine: that of Redis may have been set. */
  isOver: boolean;
}

export type Recovery =
  /** It waits or runs there: follow it. With `executedAs` another operation answers the call: take its outcome. */
  | { kind: "attach"; executedAs?: string }
  | { kind: "settle"; outcome: Outcome }
  /**
   * Submit the same id again: with another `after` if the store's memory is behind the Editor's, or `instead` of an
   * earlier submit of the same call that never began and must not begin any more.
   */
  | { kind: "resubmit"; after?: string; returned?: boolean; instead?: string }
  /** Tell the Editor never to run it. Once that is journalled, mark it interrupted; otherwise ask again. */
  | { kind: "revoke"; why: string; type?: "ledger_lost" }
  | { kind: "interrupt"; why: string; type?: "ledger_lost" }
  | { kind: "fail"; type: string; message: string };

/** Pure. Never answers "run it under another id": the id is the operation's identity. */
export function recover(record: OperationRecord, found: EditorReply, context: RecoveryContext): Recovery {
  if ("refusal" in found) return afterRefusal(found.refusal);
  const { answer } = found;
  if (answer.state === "same_as") return afterSameAs(record, answer as SameAs, context);
  switch (answer.state as LedgerState | "unknown") {
    case "running":
      return { kind: "attach" };
    case "accepted":
      return storeKnowsMore(record) ? LEDGER_LOST : { kind: "attach" };
    case "not_started":
      if (storeKnowsMore(record)) return LEDGER_LOST;
      return record.rebuilt ? NOT_STARTED : { kind: "resubmit", returned: true };
    case "revoked":
      return { kind: "interrupt", why: "The Editor was instructed never to run it." };
    case "unknown":
      if (record.effect === "read_only") return record.rebuilt ? NOT_STARTED : { kind: "resubmit" };
      if (storeKnowsMore(record)) return LEDGER_LOST;
      if (isFromBeforeLoss(record, context.incarnation)) return TAKEN_BEFORE_LOSS;
      // Resubmission (▲12): in the session it was sent in, the ledger holds everything that arrived. Not there means not
      // arrived, so the same id may be sent again. Another session may have lost it: that never means "not started".
      return record.sentIn === undefined || record.sentIn === context.session
        ? { kind: "resubmit" }
        : FORGOTTEN;
    case "completed":
    case "failed":
    case "cancelled":
    case "interrupted": {
      const outcome = (answer as { outcome?: Outcome }).outcome;
      return outcome
        ? { kind: "settle", outcome }
        : { kind: "interrupt", why: "The Editor knows that it ended, but not how." };
    }
  }
}

const FORGOTTEN: Recovery = {
  kind: "revoke",
  why: "The Editor was restarted and does not know this operation.",
};

/** Store incarnation (▲13): the pool may have had it back, and another Editor begun it, in writes that the store has lost. */
const TAKEN_BEFORE_LOSS: Recovery = {
  kind: "revoke",
  why: "The broker's store has lost data, and this Editor does not know the operation: another Editor of its pool may have run it.",
};

const LEDGER_LOST: Recovery = {
  kind: "revoke",
  type: "ledger_lost",
  why: "The Editor's ledger lacks what the broker has seen of it (the ledger was lost, or replaced by an older copy).",
};

const NOT_STARTED: Recovery = {
  kind: "fail",
  type: "not_started",
  message: "The Editor was restarted before it began, and its arguments were lost with the broker's store.",
};

/**
 * Ledger loss (▲10 c): the store knows more of this operation than the ledger, so its absence from the ledger proves
 * nothing.
 */
function storeKnowsMore(record: OperationRecord): boolean {
  return record.effect !== "read_only" && (record.ledgerLost === true || record.state === "running");
}

export type SameAs = Extract<SubmitAnswer, { state: "same_as" }>;

/**
 * Chain check (▲10 b): the Editor's latest operation of this hash is not the one that this operation was accepted
 * after, and the Editor has run nothing. An operation that entered the store before this one was known when this one
 * was accepted. Any other is decided on as if the call came now, or as if it had been known when the call came.
 */
function afterSameAs(record: OperationRecord, answer: SameAs, context: RecoveryContext): Recovery {
  const { operationId, stateThere } = answer;
  const { other } = context;
  const again: Recovery = { kind: "resubmit", after: operationId };
  if (!other || other.isOver || record.supersedes === operationId) return again;
  // Replay (▲6): no matter who made it, tests and compilation run again, unless a key names one run of them.
  const isNewRun = record.effect === "repeatable" && !record.keyed && record.supersedes === undefined;
  if (other.record === undefined) return isNewRun ? again : UNKNOWN_OWNER;
  if (other.record.entered < record.entered) return again;
  if (stateThere === "not_started") return { kind: "resubmit", instead: operationId };
  if (wasOpen(other.record, record) && stateThere !== "cancelled")
    return { kind: "attach", executedAs: operationId };
  return afterLookUp(record, withEditorsState(other.record, stateThere), other, context.options);
}

/**
 * Join (▲5): the call came while the other changing operation was open, and would have joined it had the store not lost it. One that is
 * open still is joined as by a call that comes now.
 */
function wasOpen(other: OperationRecord, { acceptedAt, effect, fingerprint, supersedes }: OperationRecord) {
  if (effect !== "mutating" || fingerprint !== other.fingerprint) return false;
  if (supersedes !== undefined && supersedes !== other.supersedes) return false;
  return other.endedAt !== undefined && other.acceptedAt <= acceptedAt && acceptedAt < other.endedAt;
}

/**
 * A restored record is `dispatched` until its fate is known. A non-mutating one is decided on in the Editor's state:
 * if it has ended there it may have been delivered, so a call does not join it as if it were in flight.
 */
function withEditorsState(other: OperationRecord, stateThere: SameAs["stateThere"]): OperationRecord {
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

/** The call that created the operation, as input for a new decision. */
function creatingRequestOf(record: OperationRecord): Sought {
  const { caller, transport = "http" } = record.createdBy;
  return {
    caller: { id: caller ?? "", transport },
    fingerprint: record.fingerprint,
    target: { kind: "named", editor: record.editor },
    keyed: record.keyed,
    forceNew: record.supersedes,
  };
}

const UNKNOWN_OWNER: Recovery = {
  kind: "interrupt",
  why: "The Editor executed this call for a client that it does not name, so the outcome cannot be assigned to this call.",
};

/** Why an accepted call never began: its key belongs to another call (▲3), which the store had lost. */
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

// Record recovery (▲10 d): the metadata sent with a submit, from which a store that lost the operation can restore it.

/** `rebuiltRecord` reads it back; nothing else interprets it. */
export function recoveryMetadataOf(record: OperationRecord, storeId: string): RecoveryMetadata {
  const { principal, tool, fingerprint, keyed, editorOpen, pool, supersedes, createdBy } = record;
  return {
    principal,
    tool,
    fingerprint,
    storeId,
    keyed,
    editorOpen,
    ...(pool === undefined ? {} : { pool }),
    ...(supersedes === undefined ? {} : { supersedes }),
    caller: createdBy.caller,
    requestId: createdBy.requestId,
  };
}

/**
 * The record of an operation that only the Editor still knows, in its state just after it was sent. Undefined if it is not
 * ours: made by a plain client, or in a store with none of these ids (undefined: any store).
 */
export function rebuiltRecord(
  listed: ListedOperation,
  around: {
    storeIds: readonly string[] | undefined;
    editor: string;
    session: string;
    tools: readonly Tool[];
    now: number;
  },
): OperationRecord | undefined {
  const read = RecoveryMetadata.safeParse(listed.origin);
  if (!read.success) return undefined;
  const isOurs = around.storeIds === undefined || around.storeIds.includes(read.data.storeId ?? "");
  if (!isOurs || listed.hash === undefined) return undefined;
  const { principal, tool, fingerprint, keyed, editorOpen, pool, supersedes, caller, requestId } = read.data;
  const known = around.tools.find(({ name }) => name === tool);
  return {
    logId: listed.operationId,
    hash: listed.hash,
    fingerprint,
    principal,
    tool,
    effect: known?.effect ?? effectOfTool(tool),
    lane: known?.lane ?? "main",
    cancellable: known?.cancellable ?? false,
    keyed: keyed ?? false,
    editor: around.editor,
    ...(pool === undefined ? {} : { pool }),
    editorOpen: editorOpen ?? false,
    after: listed.after ?? null,
    ...(supersedes === undefined ? {} : { supersedes }),
    // Given when it is restored.
    order: 0,
    entered: 0,
    incarnation: "",
    mutationSeq: 0,
    state: "dispatched",
    acceptedAt: listed.acceptedAt ?? around.now,
    dispatchedAt: listed.acceptedAt ?? around.now,
    createdBy: { caller: caller ?? null, requestId: requestId ?? null },
    sentIn: around.session,
    rebuilt: true,
  };
}

// Record recovery (▲10 d): the metadata of a submit comes back from an Editor and would create a record, so it is
// signed, together with everything that a record is rebuilt from. Only workers have the key; neither Editors nor the
// store have it.

/** The part of a submit beside the origin that the Editor repeats. */
export type Submitted = Pick<ListedOperation, "operationId" | "hash" | "after" | "acceptedAt">;

export interface RecoverySeal {
  sign(origin: RecoveryMetadata, submitted: Submitted): RecoveryMetadata;
  /** Whether a worker with this key submitted exactly this to this Editor. */
  isSigned(listed: Submitted & { origin?: unknown }): boolean;
}

/** Seals the operations of one Editor. */
export function createRecoverySeal(key: Buffer, editorId: string): RecoverySeal {
  const signatureOf = (origin: RecoveryMetadata, submitted: Submitted): string => {
    const { operationId, hash, after, acceptedAt } = submitted;
    const { principal, tool, fingerprint, storeId, keyed, editorOpen, supersedes, caller, requestId, pool } =
      origin;
    // This order must never change. JSON keeps numbers, texts and null distinct.
    const signed = [
      ...["unity-job-broker origin 1", editorId, operationId, hash, after, acceptedAt],
      ...[principal, tool, fingerprint, storeId, keyed, editorOpen, supersedes, caller, requestId],
      // As it was signed before there were pools.
      ...(pool === undefined ? [] : [pool]),
    ];
    const text = JSON.stringify(signed.map((value) => value ?? null));
    return createHmac("sha256", key).update(text).digest("base64url");
  };

  return {
    sign: (origin, submitted) => ({ ...origin, signature: signatureOf(origin, submitted) }),
    isSigned({ origin, ...submitted }) {
      const read = RecoveryMetadata.safeParse(origin);
      if (!read.success || read.data.signature === undefined) return false;
      const expected = Buffer.from(signatureOf(read.data, submitted));
      const given = Buffer.from(read.data.signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
