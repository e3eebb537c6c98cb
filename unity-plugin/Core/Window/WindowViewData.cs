#nullable enable
using System.Collections.Generic;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Window
{
    /// <summary>A label and its value.</summary>
    public sealed class LabelledText
    {
        public LabelledText(string label, string text)
        {
            Label = label;
            Text = text;
        }

        public string Label { get; }

        public string Text { get; }
    }

    /// <summary>A switch of the security settings.</summary>
    public sealed class SecuritySwitch
    {
        public SecuritySwitch(SecuritySetting setting, string label, bool isOn)
        {
            Setting = setting;
            Label = label;
            IsOn = isOn;
        }

        public SecuritySetting Setting { get; }

        public string Label { get; }

        public bool IsOn { get; }
    }

    /// <summary>One tool.</summary>
    public sealed class ToolRow
    {
        public ToolRow(string name, string description, string remark, bool isOn)
        {
            Name = name;
            Description = description;
            Remark = remark;
            IsOn = isOn;
        }

        public string Name { get; }

        public string Description { get; }

        /// <summary>What it does to the project, how long it takes, and what decides whether it is on, in a few words.</summary>
        public string Remark { get; }

        public bool IsOn { get; }
    }

    /// <summary>The tools of one assembly.</summary>
    public sealed class ToolGroup
    {
        public ToolGroup(string? assembly, string title, bool isOn, IReadOnlyList<ToolRow> tools)
        {
            Assembly = assembly;
            Title = title;
            IsOn = isOn;
            Tools = tools;
        }

        /// <summary>Null for the bridge's own, which are not switched together.</summary>
        public string? Assembly { get; }

        public string Title { get; }

        public bool IsOn { get; }

        public IReadOnlyList<ToolRow> Tools { get; }
    }

    /// <summary>One line of the communication log.</summary>
    public sealed class LogRow
    {
        public LogRow(long number, string line, string text, bool isError)
        {
            Number = number;
            Line = line;
            Text = text;
            IsError = isError;
        }

        public long Number { get; }

        public string Line { get; }

        public string Text { get; }

        public bool IsError { get; }
    }

    /// <summary>The operation on the main thread.</summary>
    public sealed class RunningRow
    {
        public RunningRow(string text, float? fraction)
        {
            Text = text;
            Fraction = fraction;
        }

        public string Text { get; }

        /// <summary>From 0 to 1; null when unknown.</summary>
        public float? Fraction { get; }
    }

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
