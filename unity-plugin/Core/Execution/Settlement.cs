#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Ledger;

namespace JobBroker.Bridge.Execution
{
    /// <summary>What ends an operation: its outcome is journalled, and only then reported. Any thread.</summary>
    public sealed class Settlement
    {
        private readonly OperationLedger ledger;
        private readonly IBridgeLog log;
        private readonly List<KeyValuePair<LedgerOperation, Outcome>> unwritten =
            new List<KeyValuePair<LedgerOperation, Outcome>>();

        public Settlement(OperationLedger ledger, IBridgeLog log)
        {
            this.ledger = ledger;
            this.log = log;
        }

        /// <summary>Raised once for every outcome, after it is durable, on the thread that wrote it.</summary>
        public event Action<LedgerOperation>? Ended;

        /// <summary>Journals and reports an outcome, or keeps it unreported until it can be journalled.</summary>
        public void Settle(LedgerOperation operation, Outcome outcome)
        {
            try
            {
                ledger.End(operation, outcome);
            }
            catch (LedgerUnavailableException error)
            {
                log.Warn($"The outcome of {operation.OperationId} is kept until the ledger can be written: {error.Message}");
                lock (unwritten) unwritten.Add(new KeyValuePair<LedgerOperation, Outcome>(operation, outcome));
                return;
            }
            Report(operation);
        }

        /// <summary>Reports one that never began and whose end the ledger has.</summary>
        internal void Report(LedgerOperation operation) => Ended?.Invoke(operation);

        /// <summary>Retries outcomes that could not be journalled; called with every heartbeat.</summary>
        public void RetryUnwritten()
        {
            KeyValuePair<LedgerOperation, Outcome>[] all;
            lock (unwritten)
            {
                if (unwritten.Count == 0) return;
                all = unwritten.ToArray();
                unwritten.Clear();
            }
            foreach (var pair in all) Settle(pair.Key, pair.Value);
        }
    }
}
