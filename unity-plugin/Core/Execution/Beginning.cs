#nullable enable
using System;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>The one door into <c>running</c>: nothing is invoked that did not pass it. Any thread.</summary>
    public sealed class Beginning
    {
        private readonly OperationLedger ledger;
        private readonly Settlement settlement;
        private readonly Func<string, JObject, string?> securityRefusal;
        private readonly Action<LedgerOperation> began;
        private readonly IClock clock;

        /// <param name="securityRefusal">Why a call may not run now, as a sentence; null when it may; any thread.</param>
        /// <param name="began">Called once <c>running</c> is durable, before the tool is invoked; never blocks.</param>
        public Beginning(
            OperationLedger ledger,
            Settlement settlement,
            Func<string, JObject, string?> securityRefusal,
            Action<LedgerOperation> began,
            IClock clock)
        {
            this.ledger = ledger;
            this.settlement = settlement;
            this.securityRefusal = securityRefusal;
            this.began = began;
            this.clock = clock;
        }

        /// <summary>
        /// True once <c>running</c> is on disk. False when it must not be invoked: its end, if it has one, is reported.
        /// </summary>
        public bool Begin(QueuedOperation item)
        {
            var operation = item.Operation;
            var refusal = Refusal(item.Tool, operation.Arguments as JObject ?? new JObject());
            lock (ledger.Gate)
            {
                // Cancelled or revoked since it was taken from the queue.
                if (operation.State != LedgerState.Accepted) return false;
                refusal ??= NotBegun(operation);
                if (refusal != null) ledger.End(operation, refusal);
            }
            if (refusal != null)
            {
                settlement.Report(operation);
                return false;
            }
            began(operation);
            return true;
        }

        /// <summary>Begins it and returns null, or why the disk refuses that.</summary>
        private Outcome? NotBegun(LedgerOperation operation)
        {
            try
            {
                ledger.Begin(operation);
                return null;
            }
            catch (LedgerUnavailableException error)
            {
                return Failed("ledger_unavailable", "Not invoked: " + error.Message);
            }
        }

        /// <summary>Why it must not begin; null when it may.</summary>
        private Outcome? Refusal(RegisteredTool tool, JObject arguments)
        {
            // Asked at submission as well; somebody may have switched it off while the call waited for its turn.
            var blocked = securityRefusal(tool.Name, arguments);
            if (blocked != null) return Failed("security_blocked", blocked);
            try
            {
                (tool.Tool as IChecksArguments)?.Check(arguments);
                return null;
            }
            catch (ToolException unfit) when (unfit.Type == ToolException.InvalidArguments)
            {
                return Failed(unfit.Type, unfit.Message);
            }
            catch (Exception)
            {
                // A fault of its schema class, which its invocation reports.
                return null;
            }
        }

        private Outcome Failed(string type, string message) =>
            Outcome.Error(LedgerState.Failed, type, message, null, clock.NowMs);
    }
}
