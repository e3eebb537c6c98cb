/**
 * The operations that an owner carries to their end: a job names one, a resumption finds one in the store, an import in
 * the Editor's ledger. In each case an operation is one piece of work.
 */

import { isSent } from "../../shared/operation/operation.js";
import type { EditorFence, Lease } from "../../shared/store/editors/lease.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import { stillHolds } from "../../shared/wire/ledger-checkpoint.js";
import type { HelloResult } from "../../shared/wire/wire.js";
import type { EditorCalls } from "../editor/editor-calls.js";
import type { EditorLink } from "../editor/editor-link.js";
import { createExecutor, type ExecutorOptions, type JobOf } from "../execution/executor.js";
import type { ExecutorDeps, ExecutorResult } from "../execution/executor-deps.js";
import { EpochInUse, type RebuildDeps, rebuildRecords } from "../recovery/rebuild.js";

// Store incarnation (▲13): the incarnation of the store in which the owner imported what its Editor knows.

export interface Imports {
  /** Nothing is claimed in another incarnation; "" before the first hello. */
  importedIn(): string;
  /** Imports at hello, over the calls of its connection, before the link is ready. Rejects where that needs another connection. */
  atHello(hello: HelloResult, calls: Pick<EditorCalls, "list" | "get">): Promise<void>;
  /** Imports over the link, or at the next hello; resolves the hello of the imported Editor, undefined while none is ready. */
  importNow(): Promise<HelloResult | undefined>;
}

export function createImports(
  deps: RebuildDeps & {
    fence: string;
    link: Pick<EditorLink, "list" | "get" | "hello" | "state" | "helloAgain">;
  },
): Imports {
  const { log, fence, link } = deps;
  let importedIn = "";

  return {
    importedIn: () => importedIn,
    async atHello(hello, calls) {
      importedIn = await rebuildRecords(deps, hello, calls, fence);
    },
    async importNow() {
      const { hello, state } = link;
      // The last heartbeat of a connection that has ended is still handled.
      if (!hello || state !== "ready") return undefined;
      log.warn({}, "the store may have lost something; imports what the Editor knows");
      try {
        importedIn = await rebuildRecords(deps, hello, link, fence);
        return hello;
      } catch (error) {
        if (!(error instanceof EpochInUse)) throw error;
        link.helloAgain();
        return undefined;
      }
    },
  };
}

// Ledger loss (▲10 c): at each hello, does the Editor's journal still hold what the store has seen of it?

/**
 * Marks every operation that was sent to a journal that has been lost since, so that no owner sends it there again,
 * neither this one nor a later one. Must happen before the new journal is remembered: after a crash in between it compares again.
 */
export async function noticeLedgerLoss(
  deps: { store: Store; editorId: string; log: Log },
  hello: HelloResult,
  fence: string,
): Promise<void> {
  if (hello.plain) return;
  const { operations, editors } = deps.store;
  const seen = (await editors.find(deps.editorId))?.ledger;
  if (stillHolds(seen, hello)) return;
  const reported = { ledgerId: hello.ledgerId, ledgerSeq: hello.ledgerSeq };
  deps.log.warn({ seen, reported }, "the Editor's ledger is not the one that was seen");
  for (const { logId } of await operations.openOf(deps.editorId)) {
    await operations.change(
      logId,
      (record) =>
        record.sentIn === undefined || record.ledgerLost
          ? undefined
          : { record: { ...record, ledgerLost: true } },
      fence,
    );
  }
}

// Each operation as one piece of work.

export interface OwnedOperations {
  /** Runs or resumes the operation, or joins the work on it. `job`: the one that asked for it, if any. */
  process(logId: string, job?: JobOf): Promise<ExecutorResult>;
  /** After every hello: asks again for operations sent before, without waiting for their jobs to come back. */
  resume(hello: HelloResult): Promise<void>;
  /**
   * Store incarnation (▲13): the store may have lost something; imports what the Editor knows and resumes it. One import at a
   * time, whichever part notices the loss.
   */
  catchUp(): Promise<void>;
}

export interface OwnedOperationsDeps
  extends Omit<ExecutorDeps, "processShared" | "importedIn" | "importAgain"> {
  operations: ExecutorDeps["operations"] & Pick<Operations, "openOf">;
  imports: Pick<Imports, "importedIn" | "importNow">;
  underWay: Pick<UnderWay, "join">;
  /** Durable acknowledgement (▲14) of the operations that the Editor named in its hello, as far as they are stored. */
  acknowledgeNamed(operationIds: readonly string[]): Promise<void>;
  /** Aborts when the owner ends. */
  signal: AbortSignal;
}

export function createOwnedOperations(deps: OwnedOperationsDeps, options: ExecutorOptions): OwnedOperations {
  const { editorId, operations, imports, underWay, signal } = deps;
  const { importedIn } = imports;
  let catchingUp: Promise<void> | undefined;
  const executor = createExecutor(
    { ...deps, processShared: process, importedIn, importAgain: catchUp },
    options,
  );

  function process(logId: string, job?: JobOf): Promise<ExecutorResult> {
    return underWay.join(logId, () => executor.process(logId, signal, job));
  }

  async function resume(hello: HelloResult): Promise<void> {
    for (const { logId, state } of await operations.openOf(editorId)) {
      if (isSent(state)) void process(logId);
    }
    await deps.acknowledgeNamed(hello.unacknowledged);
  }

  async function importAndResume(): Promise<void> {
    const hello = await imports.importNow();
    if (hello) await resume(hello);
  }

  function catchUp(): Promise<void> {
    catchingUp ??= importAndResume().finally(() => {
      catchingUp = undefined;
    });
    return catchingUp;
  }

  return { process, resume, catchUp };
}

/** The operations that an owner is processing: each at most once, whether a job, a reconnect or an import began it. */
export interface UnderWay {
  /** The work under way on this operation; begins it if there is none. */
  join(logId: string, begin: () => Promise<ExecutorResult>): Promise<ExecutorResult>;
  /** Is it processed here? An Editor's reports about other operations are ignored. */
  isOwn(logId: string): boolean;
  logIds(): string[];
  /** Resolves when all present work has ended. */
  ended(): Promise<void>;
}

export function createUnderWay(): UnderWay {
  const works = new Map<string, Promise<ExecutorResult>>();
  return {
    join(logId, begin) {
      const known = works.get(logId);
      if (known) return known;
      const work = begin().finally(() => works.delete(logId));
      works.set(logId, work);
      return work;
    },
    isOwn: (logId) => works.has(logId),
    logIds: () => [...works.keys()],
    async ended() {
      await Promise.allSettled(works.values());
    },
  };
}

/** The fence (▲11), by which an owner proves its ownership to its Editor. */
export interface OwnerFence {
  /** The last fence is kept when the lease is lost: the Editor refuses requests that are still sent under it. */
  now(): EditorFence;
  /** The same, for the hello of a new connection. */
  forHello(): EditorFence;
  /** Only the last connection has said hello with this epoch: nothing of an earlier one can be journalled any more. */
  isFresh(): boolean;
  /** Takes a new epoch, for the next hello. */
  renew(): Promise<boolean>;
  /** Epoch raise (▲10 a): the Editor has seen a higher epoch. False: this owner has lost the lease and may not raise it. */
  raiseAbove(highestEpoch: number): Promise<boolean>;
}

export function createOwnerFence(lease: Pick<Lease, "raise">, held: EditorFence): OwnerFence {
  let fence = held;
  let hellos = 0;
  const raiseAbove = async (highestEpoch: number): Promise<boolean> => {
    const raised = await lease.raise(highestEpoch);
    if (!raised) return false;
    fence = raised;
    hellos = 0;
    return true;
  };
  return {
    now: () => fence,
    forHello() {
      hellos += 1;
      return fence;
    },
    isFresh: () => hellos <= 1,
    renew: () => raiseAbove(fence.epoch),
    raiseAbove,
  };
}
