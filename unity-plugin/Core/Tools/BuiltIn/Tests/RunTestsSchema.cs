#nullable enable
using System.ComponentModel;
using System.Runtime.Serialization;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum TestFilter
    {
        [EnumMember(Value = "all")]
        All,

        [EnumMember(Value = "exact")]
        Exact,

        [EnumMember(Value = "regex")]
        Regex,

        [EnumMember(Value = "assembly")]
        Assembly,

        [EnumMember(Value = "category")]
        Category,
    }

    /// <summary>What happens to scenes with unsaved changes. None is ever discarded: they are a person's work.</summary>
    public enum UnsavedScenes
    {
        [EnumMember(Value = "refuse")]
        Refuse,

        [EnumMember(Value = "save")]
        Save,
    }

    public enum DomainReload
    {
        [EnumMember(Value = "keep")]
        Keep,

        [EnumMember(Value = "disable")]
        Disable,
    }

    public enum ReportedResults
    {
        [EnumMember(Value = "none")]
        None,

        [EnumMember(Value = "failed")]
        Failed,

        [EnumMember(Value = "passed")]
        Passed,

        [EnumMember(Value = "skipped")]
        Skipped,

        [EnumMember(Value = "all")]
        All,
    }

    public sealed class RunTestsSchema
    {
        [Description("Which runner")]
        public TestPlatform TestMode { get; set; } = TestPlatform.EditMode;

        [Description("How FilterValue is read: a test's full name, a regular expression over full names, an assembly "
            + "or a category")]
        public TestFilter FilterType { get; set; } = TestFilter.All;

        [Description("What FilterType looks for; empty for all")]
        public string FilterValue { get; set; } = "";

        [Description("Whether to write an NUnit XML file into the project's TestResults folder")]
        public bool SaveXml { get; set; }

        [Description("Which finished tests to list in cases, with time, file and line; inconclusive ones count as skipped")]
        public ReportedResults ReportResults { get; set; } = ReportedResults.None;

        [Description("List only tests whose full name this regular expression matches; alone, whatever their result")]
        public string ReportName { get; set; } = "";

        [Description("Scenes with unsaved changes: refuse to run, or save them first")]
        public UnsavedScenes UnsavedScenes { get; set; } = UnsavedScenes.Refuse;

        [Description("Of a PlayMode run: keep the project's setting, or enter play mode without a domain reload, "
            + "which is faster and keeps static fields")]
        public DomainReload ReloadDomain { get; set; } = DomainReload.Keep;
    }
}
