#nullable enable
using System;
using JobBroker.Bridge.Ledger;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// What ends an operation: its outcome is journalled, and then reported. One that the disk refuses is reported all the
    /// same, as nobody else can tell it. Any thread.
    /// </summary>
    public sealed class Settlement
    {
        private readonly OperationLedger ledger;

        public Settlement(OperationLedger ledger)
        {
            this.ledger = ledger;
        }

        /// <summary>Raised once for every outcome, on the thread that ended the operation.</summary>
        public event Action<LedgerOperation>? Ended;

        /// <summary>Journals and reports an outcome.</summary>
        public void Settle(LedgerOperation operation, Outcome outcome)
        {
            ledger.End(operation, outcome);
            Report(operation);
        }

        /// <summary>Reports one that never began and whose end the ledger has.</summary>
        internal void Report(LedgerOperation operation) => Ended?.Invoke(operation);
    }
}
