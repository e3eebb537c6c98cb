/**
 * The Editor's memory of operations: a journal, and the state that it results in.
 *
 * `running` is entered in one method (`begin`), and flushed before a tool is invoked. Revocations and fences are
 * flushed before they are reported. `accepted` need not be: losing it means "never started". What has happened anyway,
 * as an outcome, is remembered and reported also if the disk refuses it.
 * So `ledgerSeq()` counts durable entries only; otherwise every crash would look like a rolled-back ledger.
 *
 * After a failure, or when its file is not where it was, the journal heals by one snapshot of this memory in a new file.
 */
import { randomUUID } from "node:crypto";
import type { Fence } from "../../shared/operation/decide.js";
import type { Outcome } from "../../shared/wire/wire.js";
import { type JournalFiles, openJournal } from "./journal.js";
import {
  applyEntry,
  emptyContent,
  enter,
  type JournalEntry,
  type LedgerContent,
  type LedgerOperation,
  snapshotOf,
} from "./journal-entry.js";

// Which operations a ledger forgets; pure. The C# bridge has a twin of this, and both read test/golden/forgetting.json.
//
// Only operations that the broker no longer needs: acknowledged, revoked or not_started ones, each after the
// retention and while too many are known, the oldest first. The latest unrevoked one of a hash stays for `same_as` as long
// as another of its hash stays; then it goes too. Each forgotten one raises the forget horizon above its acceptance, so
// that its id is RETIRED from then on.

interface ForgetLimits {
  /** After this time (ms) … */
  forgetAfterMs: number;
  /** … and only while more than this many operations are known. */
  keepOperations: number;
}

export interface Forgotten {
  operationIds: string[];
  /** ms on the store's clock. */
  horizon: number;
}

/** `operations` in the order of the ledger. Undefined if nothing is forgotten. */
export function forgettable(
  operations: readonly LedgerOperation[],
  at: { now: number; horizon: number },
  limits: ForgetLimits,
): Forgotten | undefined {
  const chains = chainsOf(operations);
  const operationIds: string[] = [];
  let horizon = at.horizon;
  for (const operation of operations) {
    if (operations.length - operationIds.length <= limits.keepOperations) break;
    if ((operation.acknowledgedAt ?? Number.POSITIVE_INFINITY) > at.now - limits.forgetAfterMs) continue;
    const { operationId, acceptedAt, acknowledgedAt = 0 } = operation;
    // If it was revoked before it was ever submitted, it was accepted at an unknown time before that. It waits for the
    // horizon of others, by the most that the two clocks may differ.
    if (acceptedAt === undefined && at.horizon < acknowledgedAt + limits.forgetAfterMs) continue;
    const chain = operation.hash === undefined ? undefined : chains.get(operation.hash);
    if (chain?.at(-1) === operationId && chain.length > 1) continue;
    if (chain?.includes(operationId)) chain.splice(chain.indexOf(operationId), 1);
    operationIds.push(operationId);
    horizon = Math.max(horizon, (acceptedAt ?? 0) + 1);
  }
  return operationIds.length === 0 ? undefined : { operationIds, horizon };
}

/** The unrevoked ids of each hash, oldest first. */
function chainsOf(operations: readonly LedgerOperation[]): Map<string, string[]> {
  const chains = new Map<string, string[]>();
  for (const { operationId, hash, state, readOnly } of operations) {
    if (readOnly || hash === undefined || state === "revoked") continue;
    const chain = chains.get(hash);
    if (chain) chain.push(operationId);
    else chains.set(hash, [operationId]);
  }
  return chains;
}

/** Omit over each member of a union, where the built-in Omit would merge them. */
type Unnumbered<T> = T extends unknown ? Omit<T, "seq" | "at"> : never;
type Entry = Unnumbered<JournalEntry>;

export interface LedgerOptions extends ForgetLimits {
  file: string;
  now(): number;
  /** A journal with more lines becomes one snapshot when it is opened; default 5000. */
  compactLines?: number;
  /** The least time between two attempts to heal the journal, ms; default 1000. */
  healMs?: number;
  files?: JournalFiles;
}

const ENDED = new Set(["completed", "failed", "cancelled", "interrupted"]);
const COMPACT_LINES = 5000;
const HEAL_MS = 1000;

/**
 * Looking for what may be forgotten reads the whole ledger: not with every acknowledgement, but once in this part of
 * the retention.
 */
const LOOKS_PER_RETENTION = 1000;

const isOpen = (operation: LedgerOperation): boolean =>
  operation.state === "accepted" || operation.state === "running";
export const hasEnded = (operation: LedgerOperation): boolean => ENDED.has(operation.state);
const isUnacknowledged = (operation: LedgerOperation): boolean =>
  hasEnded(operation) && operation.acknowledgedAt === undefined;

export type Ledger = ReturnType<typeof openLedger>;

/** Opens the ledger of one Editor; a missing file becomes a new ledger with an id of its own. */
export function openLedger(options: LedgerOptions) {
  const journal = openJournal(options.file, options.files);
  const content: LedgerContent = emptyContent();
  // The CRC proves that this code wrote the lines.
  for (const entry of journal.found) applyEntry(content, entry as JournalEntry);
  let durableSeq = content.seq;
  /** Entry of the present session. */
  let sessionSeq = 0;
  let nextHealAt = 0;

  const numbered = (entry: Entry) => ({ seq: content.seq + 1, at: options.now(), ...entry }) as JournalEntry;

  /** Throws if the journal cannot be written. A snapshot of a large memory on a full disk is not tried all the time. */
  const heal = (looks = true): void => {
    const problem = journal.problem(looks);
    if (problem === undefined) return;
    if (performance.now() < nextHealAt) throw new Error(problem);
    nextHealAt = performance.now() + (options.healMs ?? HEAL_MS);
    rewrite();
  };
  const rewrite = (): void => {
    const entry = { seq: content.seq, at: options.now() };
    journal.rewrite([{ ...entry, kind: "snapshot", content: snapshotOf(content) }]);
    durableSeq = content.seq;
  };
  /** Makes the journal writable again, if it is not and can be. */
  const tryToHeal = (): void => {
    try {
      heal();
    } catch {
      // The caller is told.
    }
  };
  /** Throws, and changes nothing, if the journal cannot be written. A crash before the next flush loses it. */
  const add = (entry: Entry): void => {
    heal();
    const line = numbered(entry);
    journal.append(line);
    applyEntry(content, line);
  };
  /** Throws, and changes nothing, if the disk did not confirm it: the flush looks at the file. */
  const write = (entry: Entry): void => {
    heal(false);
    const line = numbered(entry);
    journal.append(line);
    journal.flush();
    applyEntry(content, line);
    durableSeq = content.seq;
  };
  /** For what is so, whatever the disk says: it is remembered, and in the next snapshot. */
  const tell = (entry: Entry, by = write): void => {
    try {
      by(entry);
    } catch {
      applyEntry(content, numbered(entry));
    }
  };

  /** The latest operation of the hash that is not revoked. */
  const latestOfHash = (hash: string): LedgerOperation | undefined => {
    for (const id of [...(content.chains.get(hash) ?? [])].reverse()) {
      const operation = content.operations.get(id);
      if (operation && operation.state !== "revoked") return operation;
    }
    return undefined;
  };

  if (content.ledgerId === "") tell({ kind: "opened", ledgerId: randomUUID() });
  let nextLookAt = Number.NEGATIVE_INFINITY;
  const forgettableNow = () => {
    const at = { now: options.now(), horizon: content.forgetHorizon };
    return forgettable([...content.operations.values()], at, options);
  };
  if (journal.found.length > (options.compactLines ?? COMPACT_LINES)) {
    const forgotten = forgettableNow();
    // Writes no line: it would come before the session's line, and a restored older ledger would look as long as the
    // one that was seen.
    if (forgotten)
      applyEntry(content, { ...numbered({ kind: "forgotten", ...forgotten }), seq: content.seq });
    try {
      rewrite();
    } catch {
      // The long one is still there; the next entry tries again.
    }
  }

  return {
    ledgerId: content.ledgerId,
    ledgerSeq: (): number => durableSeq,
    fence: (): Fence | undefined => content.fence,
    boundStore: () => content.boundStore,
    previousSession: () => content.previousSession,
    forgetHorizon: (): number => content.forgetHorizon,
    get: (operationId: string): LedgerOperation | undefined => content.operations.get(operationId),
    operations: (): LedgerOperation[] => [...content.operations.values()],
    open: (): LedgerOperation[] => [...content.operations.values()].filter(isOpen),
    unacknowledged: (): LedgerOperation[] => [...content.operations.values()].filter(isUnacknowledged),

    latestOfHash,

    startSession(editorSessionId: string): void {
      tell({ kind: "session", editorSessionId });
      sessionSeq = content.seq;
    },
    /** False: the next session would not know of this one, so no worker may. */
    isSessionDurable: (): boolean => durableSeq >= sessionSeq,
    /** Must be durable before hello is answered: a lower fence may never write again. */
    takeFence(fence: Fence, storeId: string): void {
      write({ kind: "fence", ...fence, storeId });
    },
    accept(operation: LedgerOperation): void {
      if (operation.readOnly) enter(content, operation);
      else add({ kind: "accepted", operation });
    },
    /** The only way into `running`; throws, and changes nothing, when the disk did not confirm it. */
    begin(operation: LedgerOperation): void {
      if (operation.state !== "accepted") throw new Error(`${operation.operationId} is ${operation.state}`);
      if (operation.readOnly) Object.assign(operation, { state: "running", startedAt: options.now() });
      else write({ kind: "running", operationId: operation.operationId });
    },
    end(operation: LedgerOperation, outcome: Outcome): void {
      if (operation.readOnly) Object.assign(operation, { state: outcome.status, outcome });
      else tell({ kind: "ended", operationId: operation.operationId, outcome });
    },
    revoke(operationId: string): void {
      write({ kind: "revoked", operationId });
    },
    markNotStarted(operation: LedgerOperation): void {
      tell({ kind: "not_started", operationId: operation.operationId });
    },
    /** After a lost acknowledgement the outcome is only offered again. */
    acknowledge(operationIds: readonly string[]): void {
      const ended = operationIds.filter((id) => {
        const operation = content.operations.get(id);
        return operation !== undefined && isUnacknowledged(operation);
      });
      for (const id of ended) if (content.operations.get(id)?.readOnly) content.operations.delete(id);
      const journalled = ended.filter((id) => content.operations.has(id));
      if (journalled.length > 0) tell({ kind: "acknowledged", operationIds: journalled }, add);
    },
    /** Drops reads, which exist in the memory of one script domain. */
    dropReads(): void {
      for (const op of [...content.operations.values()])
        if (op.readOnly) content.operations.delete(op.operationId);
    },

    /** Forgets operations that the broker no longer needs; a call soon after another does nothing. */
    forget(): void {
      if (options.now() < nextLookAt) return;
      nextLookAt = options.now() + options.forgetAfterMs / LOOKS_PER_RETENTION;
      const forgotten = forgettableNow();
      if (forgotten) tell({ kind: "forgotten", ...forgotten });
    },
    tryToHeal,

    setBroken: journal.setBroken,
    setSlow: journal.setSlow,
    close(unflushed: "keep" | "lose"): void {
      nextHealAt = 0;
      if (unflushed === "keep") tryToHeal();
      journal.close(unflushed);
    },
  };
}
