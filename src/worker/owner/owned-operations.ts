/**
 * The operations that an owner carries to their end: a job names one, a resumption finds one in the store, an import in
 * the Editor's ledger. In each case an operation is one piece of work.
 */
import { isSent } from "../../shared/operation/operation.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { HelloResult } from "../../shared/wire/wire.js";
import { createExecutor, type ExecutorOptions, type JobOf } from "../execution/executor.js";
import type { ExecutorDeps, ExecutorResult } from "../execution/executor-deps.js";
import type { Imports } from "../recovery/imports.js";
import type { UnderWay } from "./under-way.js";

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
