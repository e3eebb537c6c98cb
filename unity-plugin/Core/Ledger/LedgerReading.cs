#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <content>Reading the ledger.</content>
    public sealed partial class OperationLedger
    {
        /// <summary>Another one means that the ledger is new, or was damaged when it was opened.</summary>
        public string LedgerId { get; }

        /// <summary>
        /// The last entry that is surely on the disk. Does not wait for the gate, so heartbeats may read it.
        /// </summary>
        public long LedgerSeq => Interlocked.Read(ref durableSeq);

        /// <summary>
        /// Why nothing can be written, and what a person does about it; null as a rule. Does not wait for the gate.
        /// </summary>
        public string? Problem => files.Journal.Problem;

        /// <summary>What opening had to repair, in sentences for people; empty as a rule.</summary>
        public IReadOnlyList<string> Notices => files.Notices;

        /// <summary>The highest that was taken; null before the first hello.</summary>
        public Fence? Fence => Read(() => content.Fence);

        /// <summary>Null before the first hello.</summary>
        public BoundStore? BoundStore => Read(() => content.BoundStore);

        /// <summary>Null in the first session of a ledger.</summary>
        public PreviousSession? PreviousSession => Read(() => content.PreviousSession);

        /// <summary>The Editor session that wrote last.</summary>
        public string? Session => Read(() => content.Session);

        /// <summary>
        /// Milliseconds on the store's clock: what was accepted before may have been forgotten. 0: nothing was.
        /// </summary>
        public long ForgetHorizon => Read(() => content.ForgetHorizon);

        /// <summary>
        /// The ledger's own object: its state changes under the gate. Null when the id was never seen.
        /// </summary>
        public LedgerOperation? Get(string operationId) => Read(() => content.Operations.Get(operationId));

        /// <summary>The latest of the hash that is not revoked; reads are in no chain.</summary>
        public LedgerOperation? LatestOfHash(string hash) => Read(() => content.Operations.LatestOfHash(hash));

        /// <summary>All, in order of acceptance.</summary>
        public IReadOnlyList<LedgerOperation> Operations() => Where(_ => true);

        /// <summary>Accepted and running ones, in order of acceptance.</summary>
        public IReadOnlyList<LedgerOperation> Open() => Where(operation => LedgerState.IsOpen(operation.State));

        /// <summary>Those whose outcome was not acknowledged, in order of acceptance.</summary>
        public IReadOnlyList<LedgerOperation> Unacknowledged() => Where(IsUnacknowledged);

        /// <summary>
        /// The whole result, also from a file of its own; null where there is none. Null too when that file is missing
        /// or damaged: the operation's outcome is then completed with the error type result_lost. A large file is read
        /// without the gate.
        /// </summary>
        public JToken? ResultOf(LedgerOperation operation) => results.Whole(operation);

        /// <summary>Length of the result's UTF-8 JSON; 0 where there is none, or it is lost.</summary>
        public long ResultBytes(LedgerOperation operation) => results.Length(operation);

        /// <summary>
        /// A part of the result's UTF-8 JSON, shorter or empty at its end; null as for <see cref="ResultOf"/>. Reads no
        /// more of a file than the part, except the first time, when the file's checksum is compared block by block.
        /// </summary>
        public byte[]? ResultPart(LedgerOperation operation, long offset, int length) =>
            results.Part(operation, offset, length);

        internal static bool IsUnacknowledged(LedgerOperation operation) =>
            LedgerState.HasEnded(operation.State) && operation.AcknowledgedAt == null;

        private T Read<T>(Func<T> read)
        {
            lock (Gate)
            {
                return read();
            }
        }

        private IReadOnlyList<LedgerOperation> Where(Func<LedgerOperation, bool> wanted) =>
            Read(() => content.Operations.InOrder.Where(wanted).ToList());
    }
}
