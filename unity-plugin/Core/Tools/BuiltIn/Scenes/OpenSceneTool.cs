#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Runtime.Serialization;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum SceneMode
    {
        Single,
        Additive,
    }

    /// <summary>What becomes of unsaved changes; the words are those of run-tests.</summary>
    public enum LeftScenes
    {
        [EnumMember(Value = "refuse")]
        Refuse,

        [EnumMember(Value = "save")]
        Save,

        [EnumMember(Value = "discard")]
        Discard,
    }

    public sealed class OpenSceneSchema
    {
        [Description("For example Assets/Scenes/Main.unity")]
        [RequiredParameter]
        public string Path { get; set; } = "";

        [Description("Additive keeps the open scenes")]
        public SceneMode Mode { get; set; }

        [Description("What becomes of unsaved changes when open scenes are closed")]
        public LeftScenes UnsavedScenes { get; set; }
    }

    public sealed class OpenSceneResponse
    {
        [JsonProperty("path")]
        public string Path { get; set; } = "";

        [JsonProperty("scenes")]
        public IReadOnlyList<ListedScene> Scenes { get; set; } = Array.Empty<ListedScene>();

        /// <summary>Null when nothing was.</summary>
        [JsonProperty("saved")]
        public IReadOnlyList<string>? Saved { get; set; }

        [JsonProperty("discarded")]
        public IReadOnlyList<string>? Discarded { get; set; }
    }

    /// <summary>Opens a scene; what is not saved stays unless the caller says otherwise.</summary>
    [McpTool(
        Name = "open-scene",
        Description = "Opens a scene; refuses while there are unsaved changes, unless told to save or discard them. No Undo.",
        Effect = ToolEffect.Mutating,
        Destructive = true,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class OpenSceneTool : AbstractUnityTool<OpenSceneSchema, OpenSceneResponse>
    {
        private readonly ISceneFiles scenes;
        private readonly IObjectEditing objects;
        private readonly ISecuritySettings security;

        public OpenSceneTool(ToolServices services)
        {
            scenes = services.SceneFiles;
            objects = services.Objects;
            security = services.Security;
        }

        protected override Task<OpenSceneResponse> ExecuteAsync(OpenSceneSchema parameters, ToolContext context)
        {
            SceneChanges.RefuseInPlayMode(objects);
            var path = ScenePath.Checked(nameof(parameters.Path), parameters.Path);
            var known = scenes.Known();
            if (!known.Contains(path))
            {
                throw new ToolException(
                    "scene_not_found", $"The project has no scene {path}.{Nearest.Hint(known, NameOf(path))}");
            }
            var response = new OpenSceneResponse { Path = path };
            var additive = parameters.Mode == SceneMode.Additive;
            if (!additive) Leave(parameters.UnsavedScenes, response);
            scenes.Load(path, additive);
            response.Scenes = ListedScene.Of(scenes);
            return Task.FromResult(response);
        }

        private void Leave(LeftScenes unsaved, OpenSceneResponse response)
        {
            if (unsaved == LeftScenes.Refuse)
            {
                SceneChanges.RefuseUnsaved(scenes, "Say save or discard with UnsavedScenes, or open the scene with Mode Additive.");
            }
            var dirty = scenes.Open().Where(scene => scene.IsDirty).ToList();
            if (dirty.Count == 0) return;
            if (unsaved == LeftScenes.Save)
            {
                SceneChanges.RefuseSaving("open-scene with UnsavedScenes: save", security.Current);
                response.Saved = SceneChanges.SaveAll(scenes);
                return;
            }
            response.Discarded = dirty.Select(scene => scene.Path.Length == 0 ? scene.Name : scene.Path).ToList();
            foreach (var prefab in dirty.Where(scene => scene.IsPrefab)) scenes.Forget(prefab);
        }

        private static string NameOf(string path)
        {
            var name = path.Substring(path.LastIndexOf('/') + 1);
            return name.Substring(0, name.Length - ".unity".Length);
        }
    }
}
