#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ledger;

namespace JobBroker.Bridge.Api
{
    /// <summary>
    /// Which operations an answer to operation/list holds; the twin of src/simulator/results/list-page.ts.
    ///
    /// A cursor names a place in the order of acceptance, which no operation ever changes, so that nothing that happens
    /// between two pages leaves one out.
    /// </summary>
    internal sealed class ListPage<T>
    {
        private ListPage(IReadOnlyList<T> items, string? nextCursor)
        {
            Items = items;
            NextCursor = nextCursor;
        }

        public IReadOnlyList<T> Items { get; }

        /// <summary>Null on the last page.</summary>
        public string? NextCursor { get; }

        /// <summary>Null when the cursor is invalid.</summary>
        /// <param name="operations">All that the ledger knows, in its order.</param>
        /// <param name="describe">The listed form of an operation, and its length in characters of JSON.</param>
        public static ListPage<T>? Of(
            IReadOnlyList<LedgerOperation> operations,
            string? cursor,
            Func<LedgerOperation, (T Item, int Characters)> describe,
            int mostOperations,
            int mostCharacters)
        {
            var behind = cursor == null ? default(Place?) : Place.Of(cursor);
            if (cursor != null && behind == null) return null;
            var all = operations
                .Where(operation => behind == null || Place.Of(operation).IsBehind(behind.Value))
                .OrderBy(operation => operation.AcceptedAt ?? 0)
                .ThenBy(operation => operation.OperationId, StringComparer.Ordinal)
                .ToList();
            var items = Fitting(all, describe, mostOperations, mostCharacters);
            var isLast = items.Count == all.Count;
            return new ListPage<T>(items, isLast ? null : Place.Of(all[items.Count - 1]).Cursor);
        }

        /// <summary>At least one, so that every page makes progress.</summary>
        private static List<T> Fitting(
            IReadOnlyList<LedgerOperation> all,
            Func<LedgerOperation, (T Item, int Characters)> describe,
            int mostOperations,
            int mostCharacters)
        {
            var items = new List<T>();
            var characters = 0L;
            foreach (var operation in all)
            {
                if (items.Count >= mostOperations) break;
                var one = describe(operation);
                characters += one.Characters;
                if (items.Count > 0 && characters > mostCharacters) break;
                items.Add(one.Item);
            }
            return items;
        }

        private readonly struct Place
        {
            private readonly long acceptedAt;
            private readonly string operationId;

            private Place(long acceptedAt, string operationId)
            {
                this.acceptedAt = acceptedAt;
                this.operationId = operationId;
            }

            public string Cursor => acceptedAt.ToString(CultureInfo.InvariantCulture) + ":" + operationId;

            public static Place Of(LedgerOperation operation) =>
                new Place(operation.AcceptedAt ?? 0, operation.OperationId);

            public static Place? Of(string cursor)
            {
                var colon = cursor.IndexOf(':');
                if (colon < 0) return null;
                var isNumber = long.TryParse(
                    cursor.Substring(0, colon), NumberStyles.None, CultureInfo.InvariantCulture, out var acceptedAt);
                return isNumber ? new Place(acceptedAt, cursor.Substring(colon + 1)) : default(Place?);
            }

            public bool IsBehind(Place other) => acceptedAt != other.acceptedAt
                ? acceptedAt > other.acceptedAt
                : string.CompareOrdinal(operationId, other.operationId) > 0;
        }
    }
}
