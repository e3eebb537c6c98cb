#nullable enable
using System.Collections.Generic;
using JobBroker.Bridge.Config;

namespace JobBroker.Bridge.Window
{
    /// <summary>
    /// What the window remembers between two draws. Changed by its presenter only, on the main thread.
    /// </summary>
    public sealed class McpEditorWindowModel
    {
        /// <summary>What is typed and not applied yet; null when nothing is.</summary>
        public string? TypedPort { get; internal set; }

        public string? TypedAllowed { get; internal set; }

        public string? TypedDenied { get; internal set; }

        public string? TypedBuildFolders { get; internal set; }

        public string? TypedLabels { get; internal set; }

        public string LogFilter { get; internal set; } = "";

        public string Notice { get; internal set; } = "";

        /// <summary>The clients' files as they were read last; null asks for a new look.</summary>
        public IReadOnlyList<McpClientState>? Clients { get; internal set; }
    }
}
