/** The lines of the ledger's journal, and the state that they result in; no I/O. */
import type { Fence } from "../../shared/operation/decide.js";
import type { LedgerState, Outcome, RecoveryMetadata } from "../../shared/wire/wire.js";

/** One operation as the ledger knows it. */
export interface LedgerOperation {
  operationId: string;
  state: LedgerState;
  hash?: string;
  after?: string | null;
  origin?: RecoveryMetadata;
  tool?: string;
  arguments?: Record<string, unknown>;
  argumentsHash?: string;
  /** ms on the store's clock. */
  acceptedAt?: number;
  startedAt?: number;
  outcome?: Outcome;
  /** When the broker had stored the outcome durably; for a revoked or not_started one: when it became that. */
  acknowledgedAt?: number;
  /** Reads are kept in memory only: in no journal and no chain. */
  readOnly: boolean;
}

/** Every entry has a `seq`, which numbers the lines without gaps. */
export type JournalEntry = { seq: number; at: number } & (
  | { kind: "opened"; ledgerId: string }
  | { kind: "session"; editorSessionId: string }
  | { kind: "fence"; epoch: number; ownerNonce: string; storeId: string }
  | { kind: "accepted"; operation: LedgerOperation }
  | { kind: "running"; operationId: string }
  | { kind: "ended"; operationId: string; outcome: Outcome }
  | { kind: "revoked"; operationId: string }
  | { kind: "not_started"; operationId: string }
  | { kind: "acknowledged"; operationIds: string[] }
  | { kind: "forgotten"; operationIds: string[]; horizon: number }
  /** Replaces all lines before it. */
  | { kind: "snapshot"; content: Snapshot }
);

export interface Snapshot {
  ledgerId: string;
  fence?: Fence;
  boundStore?: { storeId: string; since: number };
  session?: string;
  forgetHorizon: number;
  operations: LedgerOperation[];
}

export interface LedgerContent {
  ledgerId: string;
  seq: number;
  fence: Fence | undefined;
  boundStore: { storeId: string; since: number } | undefined;
  session: string | undefined;
  /** The previous session, and the last seq that was durable before the present one began. */
  previousSession: { editorSessionId: string; ledgerSeq: number } | undefined;
  forgetHorizon: number;
  operations: Map<string, LedgerOperation>;
  /** The ids of each hash, the oldest first: revoking the latest uncovers the previous one. */
  chains: Map<string, string[]>;
}

export function emptyContent(): LedgerContent {
  return {
    ledgerId: "",
    seq: 0,
    fence: undefined,
    boundStore: undefined,
    session: undefined,
    previousSession: undefined,
    forgetHorizon: 0,
    operations: new Map(),
    chains: new Map(),
  };
}

/** Applies one line; the same code reads a journal back and applies new lines. */
export function applyEntry(content: LedgerContent, entry: JournalEntry): void {
  const before = content.seq;
  content.seq = entry.seq;
  switch (entry.kind) {
    case "opened":
      content.ledgerId = entry.ledgerId;
      break;
    case "session":
      content.previousSession =
        content.session === undefined ? undefined : { editorSessionId: content.session, ledgerSeq: before };
      content.session = entry.editorSessionId;
      break;
    case "fence":
      content.fence = { epoch: entry.epoch, ownerNonce: entry.ownerNonce };
      if (content.boundStore?.storeId !== entry.storeId) {
        content.boundStore = { storeId: entry.storeId, since: entry.at };
      }
      break;
    case "accepted":
      enter(content, { ...entry.operation });
      break;
    case "running":
      change(content, entry.operationId, { state: "running", startedAt: entry.at });
      break;
    case "ended":
      change(content, entry.operationId, { state: entry.outcome.status, outcome: entry.outcome });
      break;
    case "revoked":
      change(content, entry.operationId, { state: "revoked", acknowledgedAt: entry.at });
      break;
    case "not_started":
      change(content, entry.operationId, { state: "not_started", acknowledgedAt: entry.at });
      break;
    case "acknowledged":
      for (const id of entry.operationIds) change(content, id, { acknowledgedAt: entry.at });
      break;
    case "forgotten":
      content.forgetHorizon = Math.max(content.forgetHorizon, entry.horizon);
      for (const id of entry.operationIds) forget(content, id);
      break;
    case "snapshot": {
      const { operations, ...rest } = entry.content;
      Object.assign(content, emptyContent(), { seq: entry.seq }, rest);
      for (const operation of operations) enter(content, operation);
      break;
    }
  }
}

/** The ledger's content as a snapshot entry; reads are left out, as everywhere on disk. */
export function snapshotOf(content: LedgerContent): Snapshot {
  return {
    ledgerId: content.ledgerId,
    ...(content.fence ? { fence: content.fence } : {}),
    ...(content.boundStore ? { boundStore: content.boundStore } : {}),
    ...(content.session === undefined ? {} : { session: content.session }),
    forgetHorizon: content.forgetHorizon,
    operations: [...content.operations.values()].filter((operation) => !operation.readOnly),
  };
}

/** Puts an operation at the end of its hash's chain, even if it was there before (`not_started` accepted again). */
export function enter(content: LedgerContent, operation: LedgerOperation): void {
  // Delete first: a Map keeps the place of a key that it already has, and open operations re-queue in this order.
  content.operations.delete(operation.operationId);
  content.operations.set(operation.operationId, operation);
  if (operation.readOnly || operation.hash === undefined) return;
  const chain = (content.chains.get(operation.hash) ?? []).filter((id) => id !== operation.operationId);
  chain.push(operation.operationId);
  content.chains.set(operation.hash, chain);
}

function change(content: LedgerContent, operationId: string, fields: Partial<LedgerOperation>): void {
  const operation = content.operations.get(operationId) ?? {
    operationId,
    state: "revoked" as const,
    readOnly: false,
  };
  content.operations.set(operationId, Object.assign(operation, fields));
}

function forget(content: LedgerContent, operationId: string): void {
  const hash = content.operations.get(operationId)?.hash;
  content.operations.delete(operationId);
  if (hash === undefined) return;
  const chain = (content.chains.get(hash) ?? []).filter((id) => id !== operationId);
  if (chain.length > 0) content.chains.set(hash, chain);
  else content.chains.delete(hash);
}
