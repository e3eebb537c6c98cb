#nullable enable
namespace JobBroker.Bridge.Window
{
    /// <summary>
    /// What the window remembers between two draws. Changed by its presenter only, on the main thread.
    /// </summary>
    internal sealed class McpEditorWindowModel
    {
        /// <summary>What is typed and not applied yet; null when nothing is.</summary>
        public string? TypedPort { get; set; }

        public string? TypedAllowed { get; set; }

        public string? TypedDenied { get; set; }

        public string? TypedBuildFolders { get; set; }

        public string? TypedLabels { get; set; }

        public string LogFilter { get; set; } = "";

        public string Notice { get; set; } = "";
    }
}
