#nullable enable
using System;
using JobBroker.Bridge.Tools.Parameters;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools
{
    /// <summary>A tool with all that the bridge knows of it. Never changed; any thread.</summary>
    public sealed class RegisteredTool
    {
        private readonly Lazy<JObject> details;

        /// <param name="package">What the tool's assembly came with; null for the project's own code.</param>
        public RegisteredTool(string name, IUnityTool tool, McpToolAttribute attribute, bool builtIn, string? package = null)
        {
            Name = name;
            Tool = tool;
            BuiltIn = builtIn;
            Assembly = builtIn ? null : tool.GetType().Assembly.GetName().Name;
            Package = package;
            Effect = attribute.Effect;
            ExecutionClass = attribute.ExecutionClass;
            RunsInBatches = attribute.RunsInBatches && Lane == ToolLanes.Main && !Resumable;
            RequiredSecuritySetting = attribute.RequiredSecuritySetting;
            DisplayDevelopmentOnly = attribute.DisplayDevelopmentOnly;
            BeginsWhileBusy = attribute.BeginsWhileBusy;
            var neverStops = tool is IConditionallyCancellable conditional && !conditional.CanBeCancelled;
            Cancellable = attribute.Cancellable && !neverStops;
            Description = attribute.Description + (DisplayDevelopmentOnly ? " (For development only.)" : "");
            details = new Lazy<JObject>(() => Describe(attribute, tool.InputSchema));
        }

        public string Name { get; }

        public string Description { get; }

        public IUnityTool Tool { get; }

        /// <summary>True for the bridge's own tools, which no other can replace.</summary>
        public bool BuiltIn { get; }

        /// <summary>The name of the assembly that it comes from; null for the bridge's own.</summary>
        public string? Assembly { get; }

        /// <summary>The package that its assembly came with; null for the project's own code and the bridge's.</summary>
        public string? Package { get; }

        public ToolEffect Effect { get; }

        public bool IsReadOnly => Effect == ToolEffect.ReadOnly;

        /// <summary>"main" or "background".</summary>
        public string Lane => ToolLanes.Of(Name);

        /// <summary>True when <see cref="Tool"/> is an <see cref="IResumableTool"/>.</summary>
        public bool Resumable => Tool is IResumableTool;

        public bool Cancellable { get; }

        public ExecutionClass ExecutionClass { get; }

        /// <summary>Whether run-batch may run it.</summary>
        public bool RunsInBatches { get; }

        public SecuritySetting RequiredSecuritySetting { get; }

        public bool DisplayDevelopmentOnly { get; }

        /// <summary>True when it does not wait for Unity to be ready.</summary>
        public bool BeginsWhileBusy { get; }

        /// <summary>
        /// The tool's entry of get-tool-details; a copy. The first call reads the tool's schema; whatever that throws is thrown
        /// on.
        /// </summary>
        public JObject Details() => (JObject)details.Value.DeepClone();

        private JObject Describe(McpToolAttribute attribute, JObject inputSchema) => new JObject
        {
            ["name"] = Name,
            ["description"] = Description,
            ["parameterSchema"] = PlainParameterSchema.Of(inputSchema),
            ["displayDevelopmentOnly"] = DisplayDevelopmentOnly,
            ["inputSchema"] = inputSchema.DeepClone(),
            ["annotations"] = new JObject
            {
                ["title"] = attribute.Title ?? Name,
                ["readOnlyHint"] = IsReadOnly,
                ["idempotentHint"] = Effect != ToolEffect.Mutating,
                ["destructiveHint"] = attribute.Destructive,
                ["openWorldHint"] = attribute.OpenWorld,
            },
            ["lane"] = Lane,
            ["resumable"] = Resumable,
            ["cancellable"] = Cancellable,
            ["executionClass"] = Word(ExecutionClass),
        };

        private static string Word(ExecutionClass executionClass) => executionClass switch
        {
            ExecutionClass.Quick => "quick",
            ExecutionClass.Long => "long",
            _ => "medium",
        };
    }
}
