#nullable enable
using System;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>The state that a journal's lines add up to; no I/O. Not safe for several threads.</summary>
    internal sealed class LedgerContent
    {
        public string LedgerId { get; set; } = "";

        public long Seq { get; set; }

        public Fence? Fence { get; set; }

        public BoundStore? BoundStore { get; set; }

        public string? Session { get; set; }

        public PreviousSession? PreviousSession { get; set; }

        public long ForgetHorizon { get; set; }

        public OperationTable Operations { get; } = new OperationTable();

        /// <summary>Applies one line; the same code reads a journal back and follows it live.</summary>
        public void Apply(JournalEntry entry)
        {
            var before = Seq;
            Seq = entry.Seq;
            switch (entry.Kind)
            {
                case EntryKind.Opened:
                    LedgerId = entry.Id;
                    break;
                case EntryKind.Session:
                    PreviousSession = Session == null ? null : new PreviousSession(Session, before);
                    Session = entry.Id;
                    break;
                case EntryKind.Fence:
                    Fence = entry.FenceTaken;
                    if (BoundStore?.StoreId != entry.StoreId)
                    {
                        BoundStore = new BoundStore(entry.StoreId, entry.At);
                    }

                    break;
                case EntryKind.Accepted:
                    Operations.Enter(entry.Operation!);
                    break;
                case EntryKind.Running:
                    var begun = Known(entry.Id);
                    begun.StartedAt = entry.At;
                    begun.State = LedgerState.Running;
                    break;
                case EntryKind.Ended:
                    End(Known(entry.Id), entry.Outcome!, entry.StoredResult);
                    break;
                case EntryKind.Revoked:
                    Settle(Known(entry.Id), LedgerState.Revoked, entry.At);
                    break;
                case EntryKind.NotStarted:
                    Settle(Known(entry.Id), LedgerState.NotStarted, entry.At);
                    break;
                case EntryKind.Acknowledged:
                    foreach (var id in entry.Ids)
                    {
                        Known(id).AcknowledgedAt = entry.At;
                    }

                    break;
                case EntryKind.Forgotten:
                    ForgetHorizon = Math.Max(ForgetHorizon, entry.Horizon);
                    foreach (var id in entry.Ids)
                    {
                        Operations.Remove(id);
                    }

                    break;
                case EntryKind.Snapshot:
                    Take(entry.Content!, entry.At);
                    break;
                default:
                    throw new InvalidOperationException("A journal has no entries of the kind " + entry.Kind + ".");
            }
        }

        public static void End(LedgerOperation operation, Outcome outcome, StoredResult? stored)
        {
            // The state last: a reader without the gate sees the end only together with its outcome.
            operation.Outcome = outcome;
            operation.StoredResult = stored;
            operation.Arguments = null;
            operation.State = outcome.Status;
        }

        private void Take(LedgerContent snapshot, long at)
        {
            LedgerId = snapshot.LedgerId;
            Fence = snapshot.Fence;
            BoundStore = snapshot.BoundStore;
            Session = snapshot.Session;
            PreviousSession = snapshot.PreviousSession;
            ForgetHorizon = snapshot.ForgetHorizon;
            Operations.Clear();
            foreach (var operation in snapshot.Operations.InOrder)
            {
                // Older versions did not note when an operation was revoked or found not_started.
                if (operation.State == LedgerState.Revoked || operation.State == LedgerState.NotStarted)
                {
                    operation.AcknowledgedAt = operation.AcknowledgedAt ?? at;
                }

                Operations.Enter(operation);
            }
        }

        private static void Settle(LedgerOperation operation, string state, long at)
        {
            operation.State = state;
            operation.AcknowledgedAt = at;
        }

        /// <summary>An id that was never submitted can only have been revoked.</summary>
        private LedgerOperation Known(string operationId)
        {
            var known = Operations.Get(operationId);
            if (known == null)
            {
                known = new LedgerOperation(operationId) { State = LedgerState.Revoked };
                Operations.Enter(known);
            }

            return known;
        }
    }
}
