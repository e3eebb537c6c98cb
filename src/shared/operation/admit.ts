/**
 * What an Editor does with a submitted operation: the third of the four pure functions (docs/reference/protocol.md,
 * "Operations"). The simulator runs this one; the C# bridge has its twin, and both read test/golden/admit.json.
 *
 * The order of the checks is the protection: first the fence (▲11), then what the ledger knows of the id (▲12: the
 * same id attaches and never runs again), then the chain of the hash (▲10(b): an operation that the store forgot is
 * named, not repeated), and only then policy.
 */
import type {
  EDITOR_CODES,
  LedgerState,
  Outcome,
  RecoveryMetadata,
  Standing,
  SubmitParams,
} from "../wire/wire.js";

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
