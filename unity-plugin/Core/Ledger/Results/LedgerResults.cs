#nullable enable
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The results of operations, wherever they lie: small ones in their outcome, large ones in files. Reading takes
    /// the ledger's gate only to look the operation up; what keeps or removes is called under it.
    /// </summary>
    internal sealed class LedgerResults
    {
        private readonly object gate;

        private readonly ResultStore store;

        private readonly int largeBytes;

        public LedgerResults(object gate, ResultStore store, int largeBytes)
        {
            this.gate = gate;
            this.store = store;
            this.largeBytes = largeBytes;
        }

        /// <summary>The outcome as the ledger keeps it: a large result is on the disk and left out.</summary>
        public Outcome Keep(LedgerOperation operation, Outcome outcome, out StoredResult? stored)
        {
            stored = null;
            var json = outcome.Result;
            if (json == null || json.Length <= largeBytes)
            {
                return outcome;
            }

            stored = store.Put(operation.OperationId, json, operation.ReadOnly);
            return outcome.WithoutResult();
        }

        /// <summary>Writes the files that the disk refused before.</summary>
        public void PutAgain(IEnumerable<LedgerOperation> operations)
        {
            foreach (var operation in operations)
            {
                if (operation.StoredResult?.InMemory is { } json)
                {
                    operation.StoredResult = store.Put(operation.OperationId, json, operation.ReadOnly);
                }
            }
        }

        public JToken? Whole(LedgerOperation operation)
        {
            var stored = Find(operation, out var inline);
            if (stored == null)
            {
                return inline?.Token();
            }

            var json = ReadStored(operation, stored, 0, (int)Math.Min(stored.Bytes, int.MaxValue));
            return json == null ? null : LedgerJson.Parse(json, 0, json.Length);
        }

        public long Length(LedgerOperation operation)
        {
            var stored = Find(operation, out var inline);
            return stored?.Bytes ?? inline?.Length ?? 0;
        }

        public byte[]? Part(LedgerOperation operation, long offset, int length)
        {
            if (offset < 0 || length < 0)
            {
                throw new ArgumentOutOfRangeException(nameof(offset), "A part begins at 0 or later and has a length.");
            }

            var stored = Find(operation, out var inline);
            return stored != null ? ReadStored(operation, stored, offset, length) : inline?.Part(offset, length);
        }

        public void Remove(LedgerOperation operation)
        {
            if (operation.StoredResult != null)
            {
                store.Remove(operation.StoredResult);
            }
        }

        /// <summary>The execution completed, and its result cannot be read: the outcome says so from here on.</summary>
        public static void LoseFile(LedgerOperation operation) =>
            Lose(operation, "It completed, but the file of its result is missing or damaged in the Editor's ledger.");

        private static void Lose(LedgerOperation operation, string why)
        {
            operation.Outcome = operation.Outcome!.WithLostResult(why);
            operation.StoredResult = null;
        }

        private StoredResult? Find(LedgerOperation operation, out JsonText? inline)
        {
            lock (gate)
            {
                inline = operation.Outcome?.Result;
                return operation.StoredResult;
            }
        }

        private byte[]? ReadStored(LedgerOperation operation, StoredResult stored, long offset, int length)
        {
            var part = store.Read(stored, offset, length);
            lock (gate)
            {
                if (part == null && operation.StoredResult == stored)
                {
                    LoseFile(operation);
                }
            }

            return part;
        }
    }
}
