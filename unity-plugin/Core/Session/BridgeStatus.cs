#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Session
{
    /// <summary>One waiting operation.</summary>
    public sealed record QueuedStatus(string OperationId, string Tool);

    /// <summary>The operation on the main thread.</summary>
    /// <param name="StartedAtMs">Milliseconds since the Unix epoch.</param>
    public sealed record RunningStatus(
        string OperationId, string Tool, long StartedAtMs, double? Progress, double? Total, string? Message);

    /// <summary>The bridge at one moment, for people; never changes.</summary>
    public sealed class BridgeStatus
    {
        public bool Running { get; set; }

        /// <summary>Why it does not run, or runs nothing that changes the project, and what to do; null when nothing is wrong.</summary>
        public string? LastError { get; set; }

        public string EditorId { get; set; } = "";

        public string EditorSessionId { get; set; } = "";

        public int Generation { get; set; }

        /// <summary>0 before it ever listened.</summary>
        public int Port { get; set; }

        public string Phase { get; set; } = "";

        /// <summary>Those in effect, wherever they come from: see EditorLabels.</summary>
        public IReadOnlyList<string> Labels { get; set; } = new string[0];

        public bool WorkerConnected { get; set; }

        /// <summary>The broker that said hello last; null before the first.</summary>
        public string? Worker { get; set; }

        public IReadOnlyList<ConnectedClient> Clients { get; set; } = new ConnectedClient[0];

        /// <summary>The MCP clients of the broker, as it reported them last.</summary>
        public ClientReport McpClients { get; set; } = ClientReport.None;

        public IReadOnlyList<QueuedStatus> Queue { get; set; } = new QueuedStatus[0];

        public RunningStatus? RunningOperation { get; set; }

        /// <summary>The Redis store that this Editor is bound to; null before the first hello.</summary>
        public string? BoundStore { get; set; }

        public string LedgerId { get; set; } = "";

        public long LedgerSeq { get; set; }

        /// <summary>Milliseconds since the main thread last ticked.</summary>
        public long StallMs { get; set; }
    }
}
