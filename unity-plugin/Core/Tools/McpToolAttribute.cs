#nullable enable
using System;

namespace JobBroker.Bridge.Tools
{
    /// <summary>What running a tool twice would do.</summary>
    public enum ToolEffect
    {
        /// <summary>Unknown or harmful: never run again by itself. The default, because it is the safe one.</summary>
        Mutating,

        /// <summary>The same as running it once.</summary>
        Idempotent,

        /// <summary>Nothing at all.</summary>
        ReadOnly,
    }

    /// <summary>How long a call usually takes: 30 s, 300 s, 3600 s.</summary>
    public enum ExecutionClass
    {
        Quick,
        Medium,
        Long,
    }

    /// <summary>The setting that must be on before a tool may run.</summary>
    public enum SecuritySetting
    {
        None,
        TestExecution,
        MenuItemExecution,
        CodeExecution,
        BuildExecution,
        PlayModeControl,
        SceneEditing,
        AssetEditing,
        PackageManagement,
    }

    /// <summary>Makes a class that implements <see cref="IUnityTool"/> a tool that clients can call.</summary>
    [AttributeUsage(AttributeTargets.Class, Inherited = false)]
    public sealed class McpToolAttribute : Attribute
    {
        /// <summary>The tool's name in kebab-case; null derives it from the class: BuildPlayerTool becomes build-player.</summary>
        public string? Name { get; set; }

        public string Description { get; set; } = "";

        /// <summary>A name for people; null shows the tool's name.</summary>
        public string? Title { get; set; }

        public ToolEffect Effect { get; set; } = ToolEffect.Mutating;

        /// <summary>True for what cannot be undone (deletes, executes arbitrary code).</summary>
        public bool Destructive { get; set; }

        /// <summary>True for what reaches out of the Editor (network, stores).</summary>
        public bool OpenWorld { get; set; }

        public ExecutionClass ExecutionClass { get; set; } = ExecutionClass.Medium;

        /// <summary>True when a running call can be asked to stop.</summary>
        public bool Cancellable { get; set; }

        /// <summary>
        /// True for what run-batch may run: quick, on the main lane, and what it changes is a step of Undo or said not to be.
        /// </summary>
        public bool RunsInBatches { get; set; }

        /// <summary>
        /// True for what may begin while Unity compiles, imports or changes play mode: it waits for that itself, or ends it.
        /// Read-only tools always may.
        /// </summary>
        public bool BeginsWhileBusy { get; set; }

        public SecuritySetting RequiredSecuritySetting { get; set; } = SecuritySetting.None;

        /// <summary>True for tools that only clients in development mode see.</summary>
        public bool DisplayDevelopmentOnly { get; set; }
    }
}
