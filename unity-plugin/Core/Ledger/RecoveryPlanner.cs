#nullable enable
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Ledger
{
    public enum RecoveryCause
    {
        /// <summary>The script domain is gone, the process lives.</summary>
        DomainReload,

        /// <summary>The process that wrote the ledger is gone.</summary>
        EditorExit,
    }

    /// <summary>Plans the recovery of open operations after a domain reload or an exit of the Editor; pure.</summary>
    public static class RecoveryPlanner
    {
        /// <summary>
        /// One step for each operation that is accepted or running, in the order given (the ledger's).
        /// </summary>
        public static IReadOnlyList<RecoveryStep> Plan(
            RecoveryCause cause, IReadOnlyList<OpenOperation> operations) =>
            operations
                .Where(operation => LedgerState.IsOpen(operation.State))
                .Select(operation => new RecoveryStep(operation.OperationId, ActionOf(cause, operation), WordOf(cause)))
                .ToList();

        /// <summary>domain_reload or editor_exit: the error type of what is interrupted by it.</summary>
        public static string WordOf(RecoveryCause cause) =>
            cause == RecoveryCause.DomainReload ? "domain_reload" : "editor_exit";

        private static RecoveryAction ActionOf(RecoveryCause cause, OpenOperation operation)
        {
            if (operation.ReadOnly)
            {
                return RecoveryAction.Forget;
            }

            if (operation.State == LedgerState.Accepted)
            {
                return cause == RecoveryCause.DomainReload ? RecoveryAction.Requeue : RecoveryAction.NotStarted;
            }

            return cause == RecoveryCause.DomainReload && operation.Resumable
                ? RecoveryAction.Resume
                : RecoveryAction.Interrupt;
        }
    }
}
