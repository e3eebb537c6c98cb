#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>The kinds of a journal's lines, as they are written.</summary>
    internal static class EntryKind
    {
        /// <summary>A new ledger begins; further down: the ledger was damaged and got a new id.</summary>
        public const string Opened = "opened";
        public const string Session = "session";
        public const string Fence = "fence";
        public const string Accepted = "accepted";
        public const string Running = "running";
        public const string Ended = "ended";
        public const string Revoked = "revoked";
        public const string NotStarted = "not_started";
        public const string Acknowledged = "acknowledged";
        public const string Forgotten = "forgotten";

        /// <summary>Stands for all lines before it.</summary>
        public const string Snapshot = "snapshot";
    }

    /// <summary>One line of the journal. Of the fields only those of its kind are set; see the factories.</summary>
    internal sealed class JournalEntry
    {
        public JournalEntry(string kind)
        {
            Kind = kind;
        }

        public string Kind { get; }

        /// <summary>Numbers the lines without gaps.</summary>
        public long Seq { get; set; }

        /// <summary>Milliseconds since the Unix epoch.</summary>
        public long At { get; set; }

        public string Id { get; set; } = "";

        public IReadOnlyList<string> Ids { get; set; } = Array.Empty<string>();

        public LedgerOperation? Operation { get; set; }

        public Outcome? Outcome { get; set; }

        public StoredResult? StoredResult { get; set; }

        public Fence? FenceTaken { get; set; }

        public string StoreId { get; set; } = "";

        public long Horizon { get; set; }

        public LedgerContent? Content { get; set; }

        public static JournalEntry Opened(string ledgerId) => new JournalEntry(EntryKind.Opened) { Id = ledgerId };

        public static JournalEntry Session(string editorSessionId) =>
            new JournalEntry(EntryKind.Session) { Id = editorSessionId };

        public static JournalEntry Fence(Fence fence, string storeId) =>
            new JournalEntry(EntryKind.Fence) { FenceTaken = fence, StoreId = storeId };

        public static JournalEntry Accepted(LedgerOperation operation) =>
            new JournalEntry(EntryKind.Accepted) { Operation = operation };

        /// <summary>running, revoked or not_started.</summary>
        public static JournalEntry Of(string kind, string operationId) => new JournalEntry(kind) { Id = operationId };

        public static JournalEntry Ended(string operationId, Outcome outcome, StoredResult? stored) =>
            new JournalEntry(EntryKind.Ended) { Id = operationId, Outcome = outcome, StoredResult = stored };

        public static JournalEntry Acknowledged(IReadOnlyList<string> operationIds) =>
            new JournalEntry(EntryKind.Acknowledged) { Ids = operationIds };

        public static JournalEntry Forgotten(IReadOnlyList<string> operationIds, long horizon) =>
            new JournalEntry(EntryKind.Forgotten) { Ids = operationIds, Horizon = horizon };

        public static JournalEntry Snapshot(LedgerContent content) =>
            new JournalEntry(EntryKind.Snapshot) { Content = content };
    }
}
