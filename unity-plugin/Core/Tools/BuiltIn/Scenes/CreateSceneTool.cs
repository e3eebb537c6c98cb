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
    public sealed class CreateSceneSchema
    {
        [Description("Where it is saved, for example Assets/Scenes/Level.unity")]
        [RequiredParameter]
        public string Path { get; set; } = "";

        [Description("Additive keeps the open scenes")]
        public SceneMode Mode { get; set; }

        [Description("Without camera and light")]
        public bool Empty { get; set; }
    }

    public sealed class CreateSceneResponse
    {
        [JsonProperty("path")]
        public string Path { get; set; } = "";

        [JsonProperty("scenes")]
        public IReadOnlyList<ListedScene> Scenes { get; set; } = Array.Empty<ListedScene>();
    }

    /// <summary>Makes a scene, opens and saves it; never over another, and never at the price of unsaved changes.</summary>
    [McpTool(
        Name = "create-scene",
        Description = "Makes a new scene, opens and saves it. No Undo.",
        Effect = ToolEffect.Mutating,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class CreateSceneTool : AbstractUnityTool<CreateSceneSchema, CreateSceneResponse>
    {
        private readonly ISceneFiles scenes;
        private readonly IAssets assets;
        private readonly IObjectEditing objects;

        public CreateSceneTool(ToolServices services)
        {
            scenes = services.SceneFiles;
            assets = services.Assets;
            objects = services.Objects;
        }

        protected override Task<CreateSceneResponse> ExecuteAsync(CreateSceneSchema parameters, ToolContext context)
        {
            SceneChanges.RefuseInPlayMode(objects);
            var path = ScenePath.New(scenes, assets, nameof(parameters.Path), parameters.Path, "open-scene opens it");
            var additive = parameters.Mode == SceneMode.Additive;
            if (!additive) SceneChanges.RefuseUnsaved(scenes, "Save them with save-scene first.");
            // Unity allows one untitled scene at a time, and this one is untitled until it is saved.
            else if (scenes.Open().Any(scene => scene.Path.Length == 0)) throw SceneChanges.Untitled();
            var made = scenes.Make(parameters.Empty, additive);
            SceneChanges.Save(scenes, made, path);
            return Task.FromResult(new CreateSceneResponse { Path = path, Scenes = ListedScene.Of(scenes) });
        }
    }
}
