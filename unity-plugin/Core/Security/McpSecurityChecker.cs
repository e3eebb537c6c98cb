#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Security
{
    /// <summary>Checks calls against this Editor's security settings. Unknown tools are denied. Any thread.</summary>
    public sealed class McpSecurityChecker
    {
        private readonly UnityToolRegistry tools;
        private readonly ISecuritySettings settings;

        public McpSecurityChecker(UnityToolRegistry tools, ISecuritySettings settings)
        {
            this.tools = tools;
            this.settings = settings;
        }

        /// <summary>Null when the call may run; else a sentence with what to do.</summary>
        /// <param name="arguments">As they came, checked against nothing yet.</param>
        public string? Refusal(string tool, JObject arguments)
        {
            var registered = tools.Get(tool);
            if (registered == null)
            {
                return $"{tool} is blocked: this Editor has no such tool, and unknown tools are denied.";
            }
            var current = settings.Current;
            // Where nobody has decided about the tool itself, what only reads is free.
            var isFree = tool == ControlPlayModeTool.ToolName && ControlPlayModeTool.OnlyReads(arguments)
                && current.Choices.OfTool(tool) == null;
            if (!isFree && ToolConsent.Refusal(registered, current) is { } refusal) return refusal;
            if (tool == RunBatchTool.ToolName) return StepRefusal(arguments);
            return tool == ExecuteMenuItemTool.ToolName ? MenuItemRefusal(current.MenuItems, arguments) : null;
        }

        /// <summary>
        /// That of the first step whose tool may not run. A step that is none is left to binding, which refuses it.
        /// </summary>
        private string? StepRefusal(JObject arguments)
        {
            var steps = arguments.Properties().Where(argument => Is(argument, nameof(RunBatchSchema.Steps)));
            foreach (var step in steps.SelectMany(argument => argument.Value.OfType<JObject>()))
            {
                foreach (var tool in step.Properties().Where(property => Is(property, nameof(BatchStep.Tool))))
                {
                    var name = tool.Value.Type == JTokenType.String ? (string)tool.Value! : RunBatchTool.ToolName;
                    // A batch in a batch is refused when it runs.
                    var refusal = name == RunBatchTool.ToolName ? null : Refusal(name, new JObject());
                    if (refusal != null) return refusal;
                }
            }
            return null;
        }

        private static bool Is(JProperty argument, string name) =>
            string.Equals(argument.Name, name, StringComparison.OrdinalIgnoreCase);

        /// <summary>
        /// Every spelling is looked at: what binding refuses later must not have passed here as something else.
        /// </summary>
        private static string? MenuItemRefusal(MenuItemPolicy policy, JObject arguments)
        {
            foreach (var argument in arguments.Properties())
            {
                if (!Is(argument, ExecuteMenuItemTool.PathParameter) || argument.Value.Type != JTokenType.String) continue;
                var refusal = policy.Refusal((string)argument.Value!);
                if (refusal != null) return refusal;
            }
            return null;
        }
    }
}
