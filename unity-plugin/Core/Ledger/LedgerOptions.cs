#nullable enable
namespace JobBroker.Bridge.Ledger
{
    /// <summary>Where a ledger lies, and how much it keeps.</summary>
    public sealed class LedgerOptions
    {
        public LedgerOptions(string folder)
        {
            Folder = folder;
        }

        /// <summary>Made when it is missing. One folder for each Editor.</summary>
        public string Folder { get; }

        /// <summary>
        /// What the script domain before could not write (<see cref="OperationLedger.Close"/>): it counts, not the journal.
        /// </summary>
        public string? Carried { get; set; }

        /// <summary>Acknowledged operations are forgotten after so many milliseconds …</summary>
        public long ForgetAfterMs { get; set; } = 24L * 3600 * 1000;

        /// <summary>… and only while more operations than this are known.</summary>
        public int KeepOperations { get; set; } = 1000;

        /// <summary>A journal of more lines becomes one snapshot when it is opened.</summary>
        public int CompactLines { get; set; } = 5000;

        /// <summary>Larger results (UTF-8 JSON) get a file of their own and do not stay in memory.</summary>
        public int LargeResultBytes { get; set; } = 32 * 1024;
    }
}
