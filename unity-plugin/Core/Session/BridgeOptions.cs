#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Ledger;

namespace JobBroker.Bridge.Session
{
    /// <summary>The options of the bridge; times in milliseconds.</summary>
    public sealed class BridgeOptions
    {
        /// <summary>Holds the ledgers and the endpoint files of all Editors of this user.</summary>
        public string StateFolder { get; set; } = Path.Combine(
            Environment.GetFolderPath(Environment.SpecialFolder.UserProfile),
            ".unity-job-broker");

        /// <summary>Where endpoint files go; null is the folder <c>editors</c> of the state folder.</summary>
        public string? EndpointFolder { get; set; }

        /// <summary>Where the ledger is; null is <c>ledger/[editor]</c> in the state folder.</summary>
        public string? LedgerFolder { get; set; }

        /// <summary>Null derives it from the project's name and path.</summary>
        public string? EditorId { get; set; }

        /// <summary>
        /// Null takes the first free one of 8700 to 8799, 0 any; a given port that is taken is an error.
        /// </summary>
        public int? Port { get; set; }

        /// <summary>Null or empty makes a random one for each Editor session.</summary>
        public string? Token { get; set; }

        public int HeartbeatMs { get; set; } = 1000;

        /// <summary>Between two progress reports of one operation.</summary>
        public int ProgressIntervalMs { get; set; } = 250;

        /// <summary>The longest frame that a worker may send.</summary>
        public int MaxFrameBytes { get; set; } = 1024 * 1024;

        /// <summary>Larger results are read in parts with <c>operation/result</c>.</summary>
        public int InlineResultBytes { get; set; } = 1024 * 1024;

        /// <summary>How long after the bound broker's connection ended another store may take an idle Editor.</summary>
        public int ForeignSilenceMs { get; set; } = 60_000;

        /// <summary>Acknowledged outcomes are forgotten after this …</summary>
        public long ForgetAfterMs { get; set; } = 24L * 3600 * 1000;

        /// <summary>… while more than so many operations are known.</summary>
        public int KeepOperations { get; set; } = 1000;

        /// <summary>A journal of more lines becomes one snapshot when it is opened.</summary>
        public int CompactLines { get; set; } = 5000;

        /// <summary>
        /// Opens the plain calls to every program and every user of this machine that reaches the port, without the
        /// token.
        /// May change at any time.
        /// </summary>
        public bool PlainSurface { get; set; }

        /// <summary>
        /// A connection that has not proven by then that it holds the token is closed, unless the plain surface is on.
        /// </summary>
        public int StrangerMs { get; set; } = 2000;

        /// <summary>How long each part of a stop may take.</summary>
        public int StopMs { get; set; } = 500;

        internal LedgerOptions ForLedger(string folder, string? carried) => new LedgerOptions(folder)
        {
            Carried = carried,
            ForgetAfterMs = ForgetAfterMs,
            KeepOperations = KeepOperations,
            CompactLines = CompactLines,
        };
    }
}
