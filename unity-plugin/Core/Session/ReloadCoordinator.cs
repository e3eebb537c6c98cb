#nullable enable
using System.Linq;
using JobBroker.Bridge.Execution;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Session
{
    /// <summary>
    /// Recovers the operations that a script domain or a process left open. Runs once at the start of a script domain,
    /// before the server listens, so that no worker sees a half-recovered ledger.
    /// </summary>
    internal sealed class ReloadCoordinator
    {
        private readonly OperationLedger ledger;
        private readonly ExecutionEngine engine;
        private readonly Settlement settlement;
        private readonly UnityToolRegistry tools;
        private readonly McpSessionManager session;
        private readonly IClock clock;

        public ReloadCoordinator(
            OperationLedger ledger,
            ExecutionEngine engine,
            Settlement settlement,
            UnityToolRegistry tools,
            McpSessionManager session,
            IClock clock)
        {
            this.ledger = ledger;
            this.engine = engine;
            this.settlement = settlement;
            this.tools = tools;
            this.session = session;
            this.clock = clock;
        }

        /// <summary>Throws <see cref="LedgerUnavailableException"/> when the ledger cannot be written.</summary>
        public void Recover()
        {
            var cause = session.IsNew ? RecoveryCause.EditorExit : RecoveryCause.DomainReload;
            if (session.IsNew) ledger.StartSession(session.EditorSessionId);
            var open = ledger.Open().Select(operation => new OpenOperation(
                operation.OperationId,
                operation.State,
                operation.ReadOnly,
                tools.Get(operation.Tool ?? "")?.Resumable ?? false)).ToList();
            foreach (var step in RecoveryPlanner.Plan(cause, open)) Take(step, ledger.Get(step.OperationId)!);
            ledger.DropReads();
        }

        private void Take(RecoveryStep step, LedgerOperation operation)
        {
            switch (step.Action)
            {
                case RecoveryAction.Requeue:
                    Requeue(operation);
                    break;
                case RecoveryAction.Resume:
                    engine.Queue(operation, tools.Get(operation.Tool!)!, resumes: true);
                    break;
                case RecoveryAction.NotStarted:
                    ledger.MarkNotStarted(operation);
                    break;
                case RecoveryAction.Interrupt:
                    var message = $"The Editor lost this operation ({step.Reason}); it began.";
                    settlement.Settle(operation, Outcome.Error(
                        LedgerState.Interrupted, step.Reason!, message, operation.StartedAt, clock.NowMs));
                    break;
            }
        }

        private void Requeue(LedgerOperation operation)
        {
            var tool = tools.Get(operation.Tool ?? "");
            if (tool != null)
            {
                engine.Queue(operation, tool);
                return;
            }
            var message = $"There is no tool {operation.Tool} any more.";
            settlement.Settle(operation, Outcome.Error(LedgerState.Failed, "unknown_tool", message, null, clock.NowMs));
        }
    }
}
