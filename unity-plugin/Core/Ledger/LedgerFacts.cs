#nullable enable
namespace JobBroker.Bridge.Ledger
{
    /// <summary>The store that this Editor belongs to.</summary>
    public sealed class BoundStore
    {
        public BoundStore(string storeId, long since)
        {
            StoreId = storeId;
            Since = since;
        }

        public string StoreId { get; }

        /// <summary>Milliseconds since the Unix epoch.</summary>
        public long Since { get; }
    }

    /// <summary>The Editor session before this one: its ledgerSeq behind what a worker saw means rolled back.</summary>
    public sealed class PreviousSession
    {
        public PreviousSession(string editorSessionId, long ledgerSeq)
        {
            EditorSessionId = editorSessionId;
            LedgerSeq = ledgerSeq;
        }

        public string EditorSessionId { get; }

        /// <summary>The last entry that was written before the present session began.</summary>
        public long LedgerSeq { get; }
    }
}
