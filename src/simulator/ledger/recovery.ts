/** What becomes of open operations when their script domain or process has ended; pure. */
import type { LedgerState } from "../../shared/wire/wire.js";

export type RecoveryCause = "domain_reload" | "editor_exit";

export interface OpenOperation {
  operationId: string;
  state: LedgerState;
  readOnly: boolean;
  resumable: boolean;
}

export type RecoveryAction =
  /** It never began: queue it again, in the order of acceptance. */
  | { operationId: string; action: "requeue" }
  /** It never began, and the worker decides whether it runs. */
  | { operationId: string; action: "not_started" }
  | { operationId: string; action: "go_on" }
  | { operationId: string; action: "interrupt"; reason: RecoveryCause }
  /** A read, which only memory recorded. */
  | { operationId: string; action: "forget" };

/** One action for each open operation, in the ledger's order. */
export function planRecovery(cause: RecoveryCause, operations: readonly OpenOperation[]): RecoveryAction[] {
  return operations
    .filter((operation) => operation.state === "accepted" || operation.state === "running")
    .map(({ operationId, state, readOnly, resumable }): RecoveryAction => {
      if (readOnly) return { operationId, action: "forget" };
      if (state === "accepted") {
        return { operationId, action: cause === "domain_reload" ? "requeue" : "not_started" };
      }
      if (cause === "domain_reload" && resumable) return { operationId, action: "go_on" };
      return { operationId, action: "interrupt", reason: cause };
    });
}
