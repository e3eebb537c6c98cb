#nullable enable
using System.Collections.Generic;
using System.ComponentModel;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;

namespace JobBroker.Samples.CustomTool
{
    /// <summary>
    /// The parameters: every public property with a getter and a setter is one, its initial value the default.
    /// </summary>
    public sealed class CountComponentsSchema
    {
        [Description("Only this component, for example Camera; empty for all")]
        public string Component { get; set; } = "";

        [Description("Whether objects that are off count")]
        public bool IncludeInactive { get; set; } = true;

        [Description("At most this many kinds, the most frequent first")]
        [ParameterRange(Minimum = 1, Maximum = 1000)]
        public int MaxKinds { get; set; } = 20;
    }

    public sealed class ComponentCount
    {
        public string Component { get; set; } = "";

        public int Count { get; set; }
    }

    public sealed class CountComponentsResponse
    {
        public int TotalCount { get; set; }

        public List<ComponentCount> Kinds { get; set; } = new List<ComponentCount>();
    }

    /// <summary>
    /// A tool of a project: the bridge finds it by its attribute and calls it count-components, after the class.
    /// </summary>
    [McpTool(
        Description = "Counts the components of the open scenes by kind.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class CountComponentsTool : AbstractUnityTool<CountComponentsSchema, CountComponentsResponse>
    {
        private readonly ISceneQuery scene;

        /// <summary>
        /// A constructor may also take nothing and use UnityEditor directly: calls come on the main thread.
        /// </summary>
        public CountComponentsTool(ToolServices services)
        {
            scene = services.Scene;
        }

        protected override Task<CountComponentsResponse> ExecuteAsync(CountComponentsSchema parameters, ToolContext context)
        {
            var counts = new Dictionary<string, int>();
            foreach (var root in scene.Roots()) Count(root, parameters, counts);
            if (parameters.Component.Length > 0 && counts.Count == 0)
            {
                throw new ToolException("component_not_found", $"No object has a component {parameters.Component}.");
            }
            var response = new CountComponentsResponse();
            foreach (var entry in counts)
            {
                response.TotalCount += entry.Value;
                response.Kinds.Add(new ComponentCount { Component = entry.Key, Count = entry.Value });
            }
            response.Kinds.Sort((left, right) => right.Count.CompareTo(left.Count));
            if (response.Kinds.Count > parameters.MaxKinds)
            {
                response.Kinds.RemoveRange(parameters.MaxKinds, response.Kinds.Count - parameters.MaxKinds);
            }
            return Task.FromResult(response);
        }

        private static void Count(SceneObject one, CountComponentsSchema parameters, Dictionary<string, int> counts)
        {
            if (!one.Active && !parameters.IncludeInactive) return;
            foreach (var component in one.Components)
            {
                if (parameters.Component.Length > 0 && component != parameters.Component) continue;
                counts.TryGetValue(component, out var before);
                counts[component] = before + 1;
            }
            foreach (var child in one.Children) Count(child, parameters, counts);
        }
    }
}
