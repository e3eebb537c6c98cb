#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class GetHierarchySchema
    {
        [Description("Objects that are off, too")]
        public bool IncludeInactive { get; set; } = true;

        [Description("Levels below the roots; -1 for all")]
        [ParameterRange(Minimum = -1)]
        public int MaxDepth { get; set; } = -1;

        [Description("Id, path or name to begin with; empty for every root")]
        public string RootPath { get; set; } = "";

        public bool IncludeComponents { get; set; } = true;

        public bool IncludePaths { get; set; } = true;

        [Description("Begin with the selected objects instead")]
        public bool UseSelection { get; set; }
    }

    public sealed class HierarchyNode
    {
        [JsonProperty("id")]
        public string Id { get; set; } = "";

        [JsonProperty("name")]
        public string Name { get; set; } = "";

        [JsonProperty("path")]
        public string? Path { get; set; }

        [JsonProperty("depth")]
        public int Depth { get; set; }

        [JsonProperty("isActive")]
        public bool IsActive { get; set; }

        [JsonProperty("components")]
        public IEnumerable<string>? Components { get; set; }
    }

    public sealed class GetHierarchyResponse
    {
        [JsonProperty("sceneName")]
        public string SceneName { get; set; } = "";

        /// <summary>All scenes that have listed objects.</summary>
        [JsonProperty("scenes")]
        public IReadOnlyList<string> Scenes { get; set; } = Array.Empty<string>();

        [JsonProperty("nodeCount")]
        public int NodeCount { get; set; }

        /// <summary>Parents before their children: a flat list can be read in pages, a tree cannot.</summary>
        [JsonProperty("nodes")]
        public IEnumerable<HierarchyNode> Nodes { get; set; } = Array.Empty<HierarchyNode>();
    }

    /// <summary>Lists the objects of the open scenes.</summary>
    [McpTool(
        Name = "get-hierarchy",
        Description = "Lists the objects of the open scenes, parents before their children.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class GetHierarchyTool : AbstractUnityTool<GetHierarchySchema, GetHierarchyResponse>
    {
        private readonly ISceneQuery scene;

        public GetHierarchyTool(ToolServices services)
        {
            scene = services.Scene;
        }

        protected override Task<GetHierarchyResponse> ExecuteAsync(GetHierarchySchema parameters, ToolContext context)
        {
            var roots = Roots(parameters);
            var entries = SceneWalk.From(roots, parameters.IncludeInactive, parameters.MaxDepth);
            var scenes = roots.Select(root => root.Scene).Distinct().ToList();
            return Task.FromResult(new GetHierarchyResponse
            {
                SceneName = scenes.FirstOrDefault() ?? "",
                Scenes = scenes,
                NodeCount = entries.Count(),
                // Made one by one while they are written: a scene may have a million of them.
                Nodes = entries.Select(entry => Node(entry.Key, entry.Value, parameters)),
            });
        }

        private IReadOnlyList<SceneObject> Roots(GetHierarchySchema parameters)
        {
            if (parameters.UseSelection) return SceneWalk.Selected(scene);
            var roots = scene.Roots();
            if (parameters.RootPath.Trim('/').Length == 0) return roots;
            return Targets.All(scene, parameters.RootPath);
        }

        private static HierarchyNode Node(SceneObject one, int depth, GetHierarchySchema parameters) =>
            new HierarchyNode
            {
                Id = one.Id,
                Name = one.Name,
                Path = parameters.IncludePaths ? SceneWalk.Rooted(one.Path) : null,
                Depth = depth,
                IsActive = one.Active,
                Components = parameters.IncludeComponents ? one.Components : null,
            };
    }
}
