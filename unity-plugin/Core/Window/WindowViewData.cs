#nullable enable
using System.Collections.Generic;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Window
{
    public sealed record LabelledText(string Label, string Text);

    /// <summary>A switch of the security settings.</summary>
    public sealed record SecuritySwitch(SecuritySetting Setting, string Label, bool IsOn);

    /// <summary>One tool.</summary>
    /// <param name="Remark">What it does to the project, how long it takes, and what decides whether it is on, in a few words.</param>
    public sealed record ToolRow(string Name, string Description, string Remark, bool IsOn);

    /// <summary>The tools of one assembly.</summary>
    /// <param name="Assembly">Null for the bridge's own, which are not switched together.</param>
    public sealed record ToolGroup(string? Assembly, string Title, bool IsOn, IReadOnlyList<ToolRow> Tools);

    /// <summary>One line of the communication log.</summary>
    public sealed record LogRow(long Number, string Line, string Text, bool IsError);

    /// <summary>The operation on the main thread.</summary>
    /// <param name="Fraction">From 0 to 1; null when unknown.</param>
    public sealed record RunningRow(string Text, float? Fraction);

    /// <summary>Everything that the window shows, as it is at one moment; the view adds nothing to it.</summary>
    public sealed class WindowViewData
    {
        public bool IsRunning { get; set; }

        public string Headline { get; set; } = "";

        /// <summary>What is wrong and what to do; null when nothing is.</summary>
        public string? Problem { get; set; }

        /// <summary>What the last click brought about; empty before the first.</summary>
        public string Notice { get; set; } = "";

        public IReadOnlyList<LabelledText> Facts { get; set; } = new LabelledText[0];

        public bool CanHandOver { get; set; }

        /// <summary>The connections, while programs without the token may call tools.</summary>
        public IReadOnlyList<string> Clients { get; set; } = new string[0];

        /// <summary>The MCP clients of the broker; names are theirs, and must be drawn without rich text.</summary>
        public IReadOnlyList<string> McpClients { get; set; } = new string[0];

        public RunningRow? Running { get; set; }

        public IReadOnlyList<string> Queue { get; set; } = new string[0];

        /// <summary>The bridge's own first, then by assembly.</summary>
        public IReadOnlyList<ToolGroup> Tools { get; set; } = new ToolGroup[0];

        public bool IsDevelopment { get; set; }

        public IReadOnlyList<SecuritySwitch> Security { get; set; } = new SecuritySwitch[0];

        public bool AutoStart { get; set; }

        public bool PlainSurface { get; set; }

        /// <summary>What switching the plain surface on means, in a sentence.</summary>
        public string PlainSurfaceConsequence { get; set; } = "";

        /// <summary>Empty means the first free one.</summary>
        public string PortText { get; set; } = "";

        /// <summary>What is wrong with the text, or when it counts; empty when there is nothing to say.</summary>
        public string PortNote { get; set; } = "";

        /// <summary>The user's, between commas.</summary>
        public string LabelsText { get; set; } = "";

        /// <summary>What is wrong with the text; empty when nothing is.</summary>
        public string LabelsNote { get; set; } = "";

        /// <summary>All that are in effect, wherever they come from.</summary>
        public string LabelsInEffect { get; set; } = "";

        public string AllowedMenuItems { get; set; } = "";

        public string DeniedMenuItems { get; set; } = "";

        public bool HasMenuItemChanges { get; set; }

        public string BuildFolders { get; set; } = "";

        public bool HasBuildFolderChanges { get; set; }

        /// <summary>False while the command line still installs or removes.</summary>
        public bool CanInstall { get; set; }

        /// <summary>What became of the last click there; empty before the first.</summary>
        public string InstallNote { get; set; } = "";

        public string LogFilter { get; set; } = "";

        public IReadOnlyList<LogRow> Log { get; set; } = new LogRow[0];
    }
}
