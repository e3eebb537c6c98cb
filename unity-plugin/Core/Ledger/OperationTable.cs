#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>Operations in order of acceptance, and the chain of each hash. Not safe for several threads.</summary>
    internal sealed class OperationTable
    {
        private readonly LinkedList<LedgerOperation> inOrder = new LinkedList<LedgerOperation>();

        private readonly Dictionary<string, LinkedListNode<LedgerOperation>> byId =
            new Dictionary<string, LinkedListNode<LedgerOperation>>();

        /// <summary>Ids of each hash, oldest first: revoking the latest uncovers the one before.</summary>
        private readonly Dictionary<string, List<string>> chains = new Dictionary<string, List<string>>();

        public int Count => byId.Count;

        public IEnumerable<LedgerOperation> InOrder => inOrder;

        public LedgerOperation? Get(string operationId) =>
            byId.TryGetValue(operationId, out var node) ? node.Value : null;

        /// <summary>
        /// Puts it last, also when its id was there before (a not_started one that is accepted again).
        /// </summary>
        public void Enter(LedgerOperation operation)
        {
            Remove(operation.OperationId);
            byId[operation.OperationId] = inOrder.AddLast(operation);
            if (operation.ReadOnly || operation.Hash == null)
            {
                return;
            }

            if (!chains.TryGetValue(operation.Hash, out var chain))
            {
                chains[operation.Hash] = chain = new List<string>();
            }

            chain.Add(operation.OperationId);
        }

        public void Remove(string operationId)
        {
            if (!byId.TryGetValue(operationId, out var node))
            {
                return;
            }

            inOrder.Remove(node);
            byId.Remove(operationId);
            var hash = node.Value.Hash;
            if (hash != null && chains.TryGetValue(hash, out var chain) && chain.Remove(operationId)
                && chain.Count == 0)
            {
                chains.Remove(hash);
            }
        }

        public LedgerOperation? LatestOfHash(string hash)
        {
            if (!chains.TryGetValue(hash, out var chain))
            {
                return null;
            }

            for (var i = chain.Count - 1; i >= 0; i--)
            {
                var operation = Get(chain[i]);
                if (operation != null && operation.State != LedgerState.Revoked)
                {
                    return operation;
                }
            }

            return null;
        }

        public void Clear()
        {
            inOrder.Clear();
            byId.Clear();
            chains.Clear();
        }
    }
}
