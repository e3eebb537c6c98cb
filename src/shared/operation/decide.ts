/**
 * decide(snapshot, request): what a submit becomes. The gateway reads a snapshot and decides here. One script then
 * applies the decision, only if the version of the hash is still the one in the snapshot.
 */

import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { editorFor, isFor, type Target, type TargetContext, type TargetProblem } from "../editors/target.js";
import { head } from "../printable.js";
import { isAlwaysRepeatable } from "../tools/tool.js";
import type {
  EDITOR_CODES,
  LedgerState,
  Outcome,
  RecoveryMetadata,
  Standing,
  SubmitParams,
} from "../wire/wire.js";
import {
  countsOf,
  type EditorState,
  type Moment,
  REPLAY_DEFAULTS,
  type ReplayOptions,
  runsAgain,
  windowOf,
} from "./again.js";
import {
  type Asking,
  askingOf,
  type Caller,
  isFinal,
  mayHaveBegun,
  type OperationRecord,
  stillOwed,
} from "./operation.js";

// Idempotency hash (▲3): two calls are the same call exactly when their hashes are equal.

export type JsonObject = Record<string, unknown>;

/** A call and, if it has one, its idempotency key. */
interface HashedCall {
  principal: string;
  tool: string;
  arguments: JsonObject;
  key?: string;
}

/**
 * `hash`, the idempotency hash (▲3): over the request and its caller or, with an idempotency key, over the key only. Excludes the
 * target. `fingerprint`: over the request itself, regardless of the caller. Both are of canonical JSON (RFC 8785): key order and number
 * spelling do not matter. The arguments, which may be long, are written once.
 */
export function hashesOf({ principal, tool, arguments: args, key }: HashedCall): {
  hash: string;
  fingerprint: string;
} {
  const begin = `{"arguments":${canonical(args)},`;
  const end = `"tool":${canonical(tool)}}`;
  const call = `${begin}"principal":${canonical(principal)},${end}`;
  return {
    hash: sha256(key === undefined ? call : canonical({ principal, key })),
    fingerprint: sha256(begin + end),
  };
}

function canonical(value: unknown): string {
  return canonicalize(value) ?? "";
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const MAX_DEPTH = 200;

/** Why arguments cannot be hashed safely, and the JSON path of the value. */
export type Unhashable = {
  code: "INTEGER_TOO_LARGE" | "ARGUMENTS_TOO_DEEP" | "INVALID_ARGUMENTS";
  path: string;
};

/** Half a surrogate pair, as in a text that was cut within an emoji, has no UTF-8, and so no canonical form. */
export const hasHalfCharacter = (text: string): boolean => !text.isWellFormed();

/**
 * Idempotency hash (▲3): finds values that would give two different calls one hash, have no canonical form, or overflow
 * the stack there. Integers beyond 2^53 have already lost digits when they are parsed.
 */
export function findUnhashable(args: JsonObject): Unhashable | undefined {
  const found = unhashableIn(args, 0);
  return found && { code: found.code, path: head(found.path, 200) || "/" };
}

/** The path is made on the way back, so that only a refusal pays for it. */
function unhashableIn(value: unknown, depth: number): Unhashable | undefined {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { code: "INTEGER_TOO_LARGE", path: "" };
  }
  // 1e400 is parsed as infinity.
  const isUnwritable =
    typeof value === "string"
      ? hasHalfCharacter(value)
      : typeof value === "number" && !Number.isFinite(value);
  if (isUnwritable) return { code: "INVALID_ARGUMENTS", path: "" };
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { code: "ARGUMENTS_TOO_DEEP", path: "" };
  for (const [key, child] of Object.entries(value)) {
    if (hasHalfCharacter(key)) return { code: "INVALID_ARGUMENTS", path: "" };
    const found = unhashableIn(child, depth + 1);
    if (found) return { code: found.code, path: `/${key}${found.path}` };
  }
  return undefined;
}

// What a submit becomes.

/** What the store knew of a hash at one moment. */
export interface Snapshot extends Moment {
  /** The log_id of the newest operation of the hash; null if its record is not stored (any more). */
  newest: string | null;
  /** The records that may answer: for each Editor the newest one, and the newest one that the Editor began. */
  records: readonly OperationRecord[];
  /** The operation made by an earlier call with the same `force_new`. */
  forced?: OperationRecord | undefined;
  lost?: readonly LostOperation[];
}

/** An operation whose record alone the store has lost, and which no Editor has brought back. `target`: an Editor, or a pool. */
export interface LostOperation {
  target: string;
  logId: string;
}

/** The parts of a call that identify its operation. */
export interface Sought {
  caller: Caller;
  fingerprint: string;
  target: Target;
  keyed: boolean;
  forceNew?: string | undefined;
}

export interface SubmitRequest extends Sought {
  hash: string;
  /** The hash of the operation that force_new names; undefined if the store has none for this principal. */
  forceNewHash?: string | undefined;
  /** What the Editor of a new operation is chosen from. */
  targetContext: TargetContext;
  /** It must not run twice. */
  isChange: boolean;
}

export type Decision =
  | {
      kind: "create";
      editor: string;
      pool?: string;
      editorOpen: boolean;
      after: string | null;
      supersedes?: string;
      /** Who is owed the outcome that it comes after, and this one with it. */
      askers?: Record<string, Asking>;
    }
  | Lookup
  | { kind: "refuse"; problem: TargetProblem }
  /**
   * Named re-run (▲8): force_new names an operation of another call; `newest` is this call's own, shown as in a replay.
   */
  | { kind: "refuse"; problem: { code: "FORCE_NEW_MISMATCH"; newest: OperationRecord | undefined } }
  /** Store incarnation (▲13): an Editor that may have run it cannot be asked any more. */
  | { kind: "refuse"; problem: { code: "RECORD_LOST"; logId: string } };

/** The operation that the call finds instead of creating one, or a refusal: the key already names another call. */
export type Lookup =
  | { kind: "join"; record: OperationRecord }
  | { kind: "replay"; record: OperationRecord }
  | { kind: "refuse"; problem: { code: "IDEMPOTENCY_CONFLICT" } };

/** Pure. The caller applies the decision atomically, or decides again with a new snapshot. */
export function decide(snapshot: Snapshot, request: SubmitRequest, options?: ReplayOptions): Decision {
  const found = lookUp(snapshot, request, options);
  if (found?.kind === "refuse") return found;
  const { missing = [] } = request.targetContext;
  const isOfThis = request.forceNewHash === request.hash || isLost(snapshot, request.forceNew);
  if (request.forceNew !== undefined && !isOfThis) {
    // One of them may bring it back.
    if (request.forceNewHash === undefined && missing.length > 0)
      return { kind: "refuse", problem: { code: "EDITORS_NOT_BACK", editors: missing } };
    const meant = candidates(snapshot.records, request);
    // As in a replay: an operation that never began is passed over in favour of one that did.
    const newest = meant.find((record) => !isPassedOver(record)) ?? meant[0];
    return { kind: "refuse", problem: { code: "FORCE_NEW_MISMATCH", newest } };
  }
  if (found) return found;
  const editor = editorFor(request.target, request.targetContext);
  if (typeof editor !== "string") return { kind: "refuse", problem: editor };
  // The Editor that the call goes to knows by itself what it ran (▲10 b).
  const elsewhere = snapshot.lost?.find(({ target }) => target !== editor);
  if (elsewhere && request.isChange && request.target.kind !== "named" && !isLost(snapshot, request.forceNew))
    return { kind: "refuse", problem: { code: "RECORD_LOST", logId: elsewhere.logId } };
  const askers = owedBefore(snapshot, request, options);
  return {
    kind: "create",
    editor,
    ...(request.target.kind === "pool" ? { pool: request.target.pool } : {}),
    editorOpen: request.target.kind === "open",
    after: snapshot.newest,
    ...(request.forceNew === undefined ? {} : { supersedes: request.forceNew }),
    ...(Object.keys(askers).length === 0 ? {} : { askers }),
  };
}

function isLost({ lost = [] }: Snapshot, forceNew: string | undefined): boolean {
  return lost.some(({ logId }) => logId === forceNew);
}

/** Owed: its caller runs again what others have asked for as well and not got yet. */
function owedBefore(
  { records, now }: Snapshot,
  sought: Sought,
  options: ReplayOptions = REPLAY_DEFAULTS,
): Record<string, Asking> {
  const before = candidates(records, sought).find((record) => !isPassedOver(record));
  if (before?.effect !== "mutating" || before.keyed) return {};
  return stillOwed(before, sought.caller, { now, windowMs: windowOf(before, options) });
}

/** The half of the decision that needs no target: the operation that answers the call, if any (▲4). */
export function lookUp(snapshot: Snapshot, request: Sought, options?: ReplayOptions): Lookup | undefined {
  // Idempotency hash (▲3): a key names one call permanently.
  if (request.keyed && snapshot.records.some((record) => record.fingerprint !== request.fingerprint)) {
    return { kind: "refuse", problem: { code: "IDEMPOTENCY_CONFLICT" } };
  }
  // Named re-run (▲8): a forced call is found only by the operation it supersedes.
  const asked =
    request.forceNew === undefined
      ? candidates(snapshot.records, request)
      : [snapshot.forced].filter((record) => record !== undefined);
  for (const record of asked) {
    if (!isFinal(record.state) && joins(record, snapshot, request)) return { kind: "join", record };
    if (isFinal(record.state) && !runsAgain(record, request, snapshot, options))
      return { kind: "replay", record };
  }
  return undefined;
}

/**
 * Choice of target (▲4): the newest operation of each Editor (or of the pool) that the call may mean, newest first. An operation that
 * never began is followed by its predecessor. An operation that another one answers for is left out: the other one is
 * among the records.
 */
function candidates(records: readonly OperationRecord[], sought: Sought): OperationRecord[] {
  const { target } = sought;
  const meant = records
    .filter((record) => !isElsewhere(record, sought))
    .filter((record) => record.executedAs === undefined)
    .filter((record) => isFor(target, record))
    .toSorted((a, b) => b.order - a.order || b.acceptedAt - a.acceptedAt);
  return meant.filter(
    (record, index) =>
      !meant
        .slice(0, index)
        .some((newer) => runsIn(newer, target) === runsIn(record, target) && !isPassedOver(newer)),
  );
}

/**
 * Choice of target (▲4): what ran in another project than the one that its caller works in answers a call without `editor` only
 * under its key, or if this very caller has asked for it. The runs of a command line are one caller in every folder, so that says nothing.
 */
function isElsewhere(record: OperationRecord, { target, caller, keyed }: Sought): boolean {
  if (keyed || target.kind !== "open" || !target.elsewhere?.includes(record.editor)) return false;
  return caller.readsByName === true || askingOf(record, caller) === undefined;
}

/** Choice of target (▲4): to a call that names a pool, the pool's Editors are one. */
function runsIn({ editor }: OperationRecord, target: Target): string {
  return target.kind === "pool" ? target.pool : editor;
}

/** Ended without having begun. */
function isPassedOver(record: OperationRecord): boolean {
  return isFinal(record.state) && !mayHaveBegun(record);
}

/** Join (▲5): a call joins an operation in flight unless a change that the call should see was accepted in between. */
function joins(record: OperationRecord, { editors, incarnation }: Moment, request: Sought): boolean {
  const isForced = record.supersedes !== undefined && record.supersedes === request.forceNew;
  if (record.effect === "mutating") return true;
  if (record.effect === "repeatable" && (record.keyed || isForced)) return true;
  // A cancelled operation ends with a partial outcome, which is not what this call asks for.
  if (record.cancel) return false;
  // Its caller cancelled its own request for this run: it wants another one.
  if (record.givenUpBy?.includes(request.caller.id)) return false;
  // Replay (▲6): it may have ended and been delivered before the store lost that, unless the Editor says it runs.
  if (record.incarnation !== incarnation || (record.rebuilt && record.state !== "running")) return false;
  // A restored operation was counted when it was restored: its place among the changes is its acceptance time.
  if (record.rebuilt) {
    const changedNothing = (id: string): boolean => {
      const target = editors.find((each) => each.id === id);
      return target !== undefined && changedNothingSince(target, record.acceptedAt);
    };
    const targets = [record.editor, record.pool ?? record.editor];
    return isAlwaysRepeatable(record.tool) && targets.every(changedNothing);
  }
  // Changes by other callers do not keep a retry from finding its tests; changes by its own caller do.
  return countsOf(record, editors).every(({ state, seq }) =>
    isAlwaysRepeatable(record.tool)
      ? state !== undefined && (state.callerMutationSeq ?? 0) <= seq
      : state?.mutationSeq === seq,
  );
}

function changedNothingSince({ callerChangedAt }: EditorState, acceptedAt: number): boolean {
  return callerChangedAt === undefined || callerChangedAt <= acceptedAt;
}

// What an Editor does with a submitted operation: the third of the four pure functions (docs/reference/protocol.md,
// "Operations"). The simulator runs this one; the C# bridge has its twin, and both read test/golden/admit.json.
//
// The order of the checks is the protection: first the fence (▲11), then what the ledger knows of the id (▲12: the
// same id attaches and never runs again), then the chain of the hash (▲10(b): an operation that the store forgot is
// named, not repeated), and only then policy.

/** The pair that orders owners: higher epoch wins; with equal epochs only the same nonce is the same owner. */
export interface Fence {
  epoch: number;
  ownerNonce: string;
}

/** What admit reads of an operation in the ledger. */
export interface AdmittedOperation {
  operationId: string;
  state: LedgerState;
  /** Absent when the id was revoked before it was ever submitted. */
  argumentsHash?: string;
  origin?: RecoveryMetadata;
  /** ms on the store's clock. */
  acceptedAt?: number;
  after?: string | null;
  /** ms on the Editor's clock; absent when execution never began. */
  startedAt?: number;
  outcome?: Outcome;
}

/** The Editor as `admit` sees it; no method may write or wait. */
export interface AdmitLedger {
  readonly ledgerId: string;
  /** The highest fence that said hello; undefined before the first hello. */
  readonly fence: Fence | undefined;
  /** ms on the store's clock: operations accepted before this time may have been forgotten. 0 when none was. */
  readonly forgetHorizon: number;
  get(operationId: string): AdmittedOperation | undefined;
  /** The latest operation of this hash that is not revoked; read-only operations are in no chain. */
  latestOfHash(hash: string): AdmittedOperation | undefined;
  hasTool(tool: string): boolean;
  isReadOnly(tool: string): boolean;
  /** Why the Editor's security settings refuse this call; undefined when they allow it. */
  securityRefusal(tool: string, args: Record<string, unknown>): string | undefined;
}

/** What the ledger knows of the other operation: enough to restore its record in a store that lost it. */
export interface SameAs {
  operationId: string;
  stateThere: LedgerState;
  origin?: RecoveryMetadata;
  acceptedAt?: number;
  after?: string | null;
  startedAt?: number;
  endedAt?: number;
  endedIn?: Standing;
  /** Whole: the answer leaves out a result that is too large for a frame. */
  outcome?: Outcome;
}

export type Admission =
  /** Journal `accepted` (mutating tools) and queue. */
  | { kind: "run" }
  /** Answer with the known state of this id; nothing is queued. */
  | { kind: "attach"; state: LedgerState; outcome?: Outcome }
  /** The latest operation of the hash is not the submitter's `after`; nothing is queued. */
  | ({ kind: "same_as" } & SameAs)
  /** Answer a failed outcome of type `security_blocked` that never began. */
  | { kind: "security_refused"; reason: string }
  | { kind: "refuse"; code: keyof typeof EDITOR_CODES; message: string; highestEpoch?: number };

/**
 * Decides on one submit. Pure: the caller must not change the ledger between this call and the journal entry.
 *
 * Never answers `run` twice for the same operation id, as long as the first `run` was entered into the ledger. The
 * exception is an operation that a new Editor process found `not_started`.
 */
export function admit(ledger: AdmitLedger, submit: SubmitParams): Admission {
  const fence = ledger.fence;
  if (fence === undefined || submit.epoch !== fence.epoch || submit.ownerNonce !== fence.ownerNonce) {
    return {
      kind: "refuse",
      code: "FENCED",
      message: "Another owner holds this Editor. Take a higher epoch and say hello before submitting.",
      highestEpoch: fence?.epoch ?? 0,
    };
  }
  if (submit.ledgerId !== ledger.ledgerId) {
    return refuse("LEDGER_LOST", `This Editor's ledger is ${ledger.ledgerId}. Say hello again to learn it.`);
  }

  const known = ledger.get(submit.operationId);
  if (known) {
    if (known.argumentsHash !== undefined && known.argumentsHash !== submit.argumentsHash) {
      return refuse("OPERATION_ID_CONFLICT", "This operation id was submitted with other arguments.");
    }
    if (known.state === "revoked") {
      return refuse("REVOKED", "This operation was revoked here and never runs in this Editor.");
    }
    if (known.state !== "not_started") {
      return { kind: "attach", state: known.state, ...(known.outcome ? { outcome: known.outcome } : {}) };
    }
  } else if (!ledger.isReadOnly(submit.tool)) {
    if (submit.acceptedAt < ledger.forgetHorizon) {
      return refuse("RETIRED", "Accepted before this Editor's forget horizon: it may have run already.");
    }
    const latest = ledger.latestOfHash(submit.hash);
    if (latest && latest.operationId !== submit.after) return sameAs(latest);
  }

  if (!ledger.hasTool(submit.tool)) {
    return refuse("UNKNOWN_TOOL", `This Editor has no tool ${JSON.stringify(submit.tool)}.`);
  }
  const reason = ledger.securityRefusal(submit.tool, submit.arguments);
  return reason === undefined ? { kind: "run" } : { kind: "security_refused", reason };
}

function refuse(code: keyof typeof EDITOR_CODES, message: string): Admission {
  return { kind: "refuse", code, message };
}

function sameAs({ operationId, state, outcome, ...known }: AdmittedOperation): Admission {
  // The outcome's own start time was already reported; a refused operation has an end and no start.
  const startedAt = outcome ? outcome.startedAt : known.startedAt;
  return {
    kind: "same_as",
    operationId,
    stateThere: state,
    ...(known.origin ? { origin: known.origin } : {}),
    ...(known.acceptedAt === undefined ? {} : { acceptedAt: known.acceptedAt }),
    ...(known.after === undefined ? {} : { after: known.after }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(outcome ? { endedAt: outcome.endedAt } : {}),
    ...(outcome?.endedIn ? { endedIn: outcome.endedIn } : {}),
    ...(outcome ? { outcome } : {}),
  };
}
