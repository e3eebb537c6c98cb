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
    public enum GameObjectSearchMode
    {
        Exact,
        Path,
        Regex,
        Contains,
        Selected,
    }

    public sealed class FindGameObjectsSchema
    {
        [Description("Empty for any")]
        public string NamePattern { get; set; } = "";

        [Description("How NamePattern is read; Selected looks at the selected objects only")]
        public GameObjectSearchMode SearchMode { get; set; } = GameObjectSearchMode.Exact;

        [Description("All of these")]
        public string[] RequiredComponents { get; set; } = Array.Empty<string>();

        [Description("Empty for any")]
        public string Tag { get; set; } = "";

        [Description("Number; left out for any")]
        [ParameterRange(Minimum = 0, Maximum = 31)]
        public int? Layer { get; set; }

        [Description("Objects that are off, too")]
        public bool IncludeInactive { get; set; }

        [ParameterRange(Minimum = 1)]
        public int MaxResults { get; set; } = 20;

        [Description("List the components' properties")]
        public bool IncludeInheritedProperties { get; set; }
    }

    public sealed class FoundGameObject
    {
        /// <summary>Names this object alone; other tools take it as Target.</summary>
        [JsonProperty("id")]
        public string Id { get; set; } = "";

        [JsonProperty("name")]
        public string Name { get; set; } = "";

        [JsonProperty("path")]
        public string Path { get; set; } = "";

        [JsonProperty("scene")]
        public string Scene { get; set; } = "";

        [JsonProperty("isActive")]
        public bool IsActive { get; set; }

        [JsonProperty("tag")]
        public string Tag { get; set; } = "";

        [JsonProperty("layer")]
        public int Layer { get; set; }

        [JsonProperty("components")]
        public IReadOnlyList<string> Components { get; set; } = Array.Empty<string>();

        /// <summary>Null when it was not asked for.</summary>
        [JsonProperty("componentDetails")]
        public IReadOnlyList<ComponentDetails>? ComponentDetails { get; set; }
    }

    public sealed class FindGameObjectsResponse
    {
        /// <summary>How many match, listed or not.</summary>
        [JsonProperty("totalFound")]
        public int TotalFound { get; set; }

        [JsonProperty("results")]
        public IReadOnlyList<FoundGameObject> Results { get; set; } = Array.Empty<FoundGameObject>();
    }

    /// <summary>Finds objects of the open scenes; every criterion that is given must hold.</summary>
    [McpTool(
        Name = "find-game-objects",
        Description = "Finds objects of the open scenes by name, path, components, tag or layer.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class FindGameObjectsTool : AbstractUnityTool<FindGameObjectsSchema, FindGameObjectsResponse>
    {
        private readonly ISceneQuery scene;

        public FindGameObjectsTool(ToolServices services)
        {
            scene = services.Scene;
        }

        protected override Task<FindGameObjectsResponse> ExecuteAsync(
            FindGameObjectsSchema parameters,
            ToolContext context)
        {
            var named = NameFilter(parameters);
            var found = SceneWalk.From(scene.Roots(), parameters.IncludeInactive)
                .Select(entry => entry.Key)
                .Where(one => named(one) && Fits(one, parameters))
                .ToList();
            var results = found
                .Take(parameters.MaxResults)
                .Select(one => Found(one, parameters.IncludeInheritedProperties))
                .ToList();
            return Task.FromResult(new FindGameObjectsResponse { TotalFound = found.Count, Results = results });
        }

        private Func<SceneObject, bool> NameFilter(FindGameObjectsSchema parameters)
        {
            var pattern = parameters.NamePattern;
            if (parameters.SearchMode == GameObjectSearchMode.Selected)
            {
                var selected = new HashSet<string>(scene.Selection().Select(SceneWalk.Rooted), StringComparer.Ordinal);
                return one => selected.Contains(SceneWalk.Rooted(one.Path)) && Contains(one.Name, pattern);
            }
            if (pattern.Length == 0) return one => true;
            switch (parameters.SearchMode)
            {
                case GameObjectSearchMode.Path:
                    return one => SceneWalk.SamePath(one.Path, pattern);
                case GameObjectSearchMode.Regex:
                    var matches = TextFilter.For(nameof(parameters.NamePattern), pattern, true);
                    return one => matches(one.Name);
                case GameObjectSearchMode.Contains:
                    return one => Contains(one.Name, pattern);
                default:
                    return one => one.Name == pattern;
            }
        }

        private static bool Contains(string name, string part) => name.IndexOf(part, StringComparison.Ordinal) >= 0;

        private static bool Fits(SceneObject one, FindGameObjectsSchema parameters) =>
            parameters.RequiredComponents.All(wanted => one.Components.Contains(wanted))
            && (parameters.Tag.Length == 0 || one.Tag == parameters.Tag)
            && (parameters.Layer == null || one.Layer == parameters.Layer);

        private FoundGameObject Found(SceneObject one, bool withProperties) => new FoundGameObject
        {
            Id = one.Id,
            Name = one.Name,
            Path = SceneWalk.Rooted(one.Path),
            Scene = one.Scene,
            IsActive = one.Active,
            Tag = one.Tag,
            Layer = one.Layer,
            Components = one.Components.ToList(),
            ComponentDetails = withProperties ? scene.Components(one, true) : null,
        };
    }
}
