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
        public TestPlatform TestMode { get; set; } = TestPlatform.EditMode;

        [Description("How FilterValue is read; exact and regex: full names")]
        public TestFilter FilterType { get; set; } = TestFilter.All;

        [Description("Empty for all")]
        public string FilterValue { get; set; } = "";

        [Description("Write an NUnit file into TestResults")]
        public bool SaveXml { get; set; }

        [Description("Which finished tests cases lists; skipped: inconclusive too")]
        public ReportedResults ReportResults { get; set; } = ReportedResults.None;

        [Description("Regular expression over full names: cases lists only these; alone, any result")]
        public string ReportName { get; set; } = "";

        [Description("Scenes with unsaved changes: refuse to run, or save them first")]
        public UnsavedScenes UnsavedScenes { get; set; } = UnsavedScenes.Refuse;

        [Description("PlayMode: keep the project's setting, or enter without a domain reload: faster, statics stay")]
        public DomainReload ReloadDomain { get; set; } = DomainReload.Keep;
    }
}
