#nullable enable
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <content>Acknowledging and forgetting operations.</content>
    public sealed partial class OperationLedger
    {
        private const int LooksPerRetention = 1000;

        private long nextLookAt = long.MinValue;

        /// <summary>
        /// The broker has these outcomes durably. Unknown and open ids are passed over; reads are dropped. Throws
        /// LedgerUnavailableException when the disk refuses it: the broker says it again.
        /// </summary>
        public void Acknowledge(IEnumerable<string> ids)
        {
            lock (Gate)
            {
                var ended = ids.Distinct().Select(content.Operations.Get)
                    .Where(operation => operation != null && IsUnacknowledged(operation)).Select(op => op!).ToList();
                foreach (var operation in ended.Where(operation => operation.ReadOnly))
                {
                    Drop(operation);
                }

                var journalled = ended.Where(op => !op.ReadOnly).Select(op => op.OperationId).ToList();
                if (journalled.Count > 0)
                {
                    Record(JournalEntry.Acknowledged(journalled), false);
                }
            }
        }

        /// <summary>Drops reads, which live in the memory of one script domain.</summary>
        public void DropReads()
        {
            lock (Gate)
            {
                foreach (var read in Where(operation => operation.ReadOnly))
                {
                    Drop(read);
                }
            }
        }

        /// <summary>
        /// Forgets what the broker no longer needs: <see cref="Forgetting"/>. That reads the whole ledger, so a call
        /// soon after another does nothing. What the disk refuses stays known.
        /// </summary>
        public void Forget()
        {
            lock (Gate)
            {
                if (clock.NowMs < nextLookAt) return;
                nextLookAt = clock.NowMs + options.ForgetAfterMs / LooksPerRetention;
                var forgotten = Forgetting.Of(content, clock.NowMs, options);
                if (forgotten != null)
                {
                    var old = forgotten.Ids.Select(id => content.Operations.Get(id)!).ToList();
                    if (TryRecord(forgotten, true)) old.ForEach(results.Remove);
                }
            }
        }

        private void Drop(LedgerOperation operation)
        {
            content.Operations.Remove(operation.OperationId);
            results.Remove(operation);
        }
    }
}
