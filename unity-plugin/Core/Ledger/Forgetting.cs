#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// Which operations a ledger lets go of; the twin of src/simulator/ledger/ledger.ts.
    ///
    /// Only what the broker needs no more: acknowledged ends, and what was revoked or found not_started, each after the
    /// retention and while too many are known, oldest first. The latest unrevoked one of a hash stays for same_as as
    /// long
    /// as another of its hash stays; then it leaves too. Whatever leaves raises the forget horizon above its
    /// acceptance,
    /// so that its id is RETIRED from then on.
    /// </summary>
    internal static class Forgetting
    {
        /// <summary>The line that forgets them; null when nothing leaves.</summary>
        public static JournalEntry? Of(LedgerContent content, long nowMs, LedgerOptions options)
        {
            var excess = content.Operations.Count - options.KeepOperations;
            if (excess <= 0) return null;
            var chains = ChainsOf(content.Operations.InOrder);
            var ids = new List<string>();
            var horizon = content.ForgetHorizon;
            foreach (var operation in content.Operations.InOrder)
            {
                if (ids.Count >= excess) break;
                if (!Leaves(operation, content.ForgetHorizon, nowMs, options.ForgetAfterMs)) continue;
                if (operation.Hash != null && chains.TryGetValue(operation.Hash, out var chain))
                {
                    if (chain.Count > 1 && chain[chain.Count - 1] == operation.OperationId) continue;
                    chain.Remove(operation.OperationId);
                }
                ids.Add(operation.OperationId);
                horizon = Math.Max(horizon, (operation.AcceptedAt ?? 0) + 1);
            }
            return ids.Count == 0 ? null : JournalEntry.Forgotten(ids, horizon);
        }

        private static bool Leaves(LedgerOperation operation, long horizon, long nowMs, long forgetAfterMs)
        {
            if (!(operation.AcknowledgedAt <= nowMs - forgetAfterMs)) return false;
            // An id revoked before it was ever submitted has no known acceptance time, except that it precedes the
            // revocation. It waits for the horizon raised by others, with the retention as margin for the difference of
            // the clocks.
            return operation.AcceptedAt != null || horizon >= operation.AcknowledgedAt + forgetAfterMs;
        }

        /// <summary>The unrevoked ids of each hash, oldest first.</summary>
        private static Dictionary<string, List<string>> ChainsOf(IEnumerable<LedgerOperation> operations) => operations
            .Where(operation => !operation.ReadOnly && operation.Hash != null && operation.State != LedgerState.Revoked)
            .GroupBy(operation => operation.Hash!)
            .ToDictionary(
                chain => chain.Key,
                chain => chain.Select(operation => operation.OperationId).ToList());
    }
}
