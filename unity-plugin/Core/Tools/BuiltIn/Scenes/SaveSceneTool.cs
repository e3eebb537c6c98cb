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
    public sealed class SaveSceneSchema
    {
        [Description("Path or name of an open scene or prefab; empty for all with changes")]
        public string Scene { get; set; } = "";

        [Description("A new path for that scene")]
        public string SaveAs { get; set; } = "";
    }

    public sealed class SaveSceneResponse
    {
        [JsonProperty("saved")]
        public IReadOnlyList<string> Saved { get; set; } = Array.Empty<string>();
    }

    /// <summary>Writes open scenes, and the prefab that is open in Prefab Mode.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Saves open scenes and the prefab open in Prefab Mode.",
        Effect = ToolEffect.Idempotent,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class SaveSceneTool : AbstractUnityTool<SaveSceneSchema, SaveSceneResponse>
    {
        internal const string ToolName = "save-scene";

        private readonly ISceneFiles scenes;
        private readonly IAssets assets;
        private readonly IObjectEditing objects;

        public SaveSceneTool(ToolServices services)
        {
            scenes = services.SceneFiles;
            assets = services.Assets;
            objects = services.Objects;
        }

        protected override Task<SaveSceneResponse> ExecuteAsync(SaveSceneSchema parameters, ToolContext context)
        {
            SceneChanges.RefuseInPlayMode(objects);
            if (parameters.Scene.Length == 0 && parameters.SaveAs.Length == 0)
            {
                return Task.FromResult(new SaveSceneResponse { Saved = SceneChanges.SaveAll(scenes) });
            }
            var scene = Named(parameters.Scene);
            var path = parameters.SaveAs.Length == 0 ? scene.Path : NewPath(scene, parameters.SaveAs);
            if (path.Length == 0)
            {
                throw new ToolException("scene_untitled", "That scene was never saved and has no path: give one with SaveAs.");
            }
            SceneChanges.Save(scenes, scene, path);
            return Task.FromResult(new SaveSceneResponse { Saved = new[] { path } });
        }

        /// <summary>The open scene of that path or name; the active one for an empty one.</summary>
        private LoadedScene Named(string wanted)
        {
            var open = scenes.Open();
            var found = open.Where(scene => wanted.Length == 0 ? scene.IsActive : scene.Path == wanted || scene.Name == wanted).ToList();
            if (found.Count == 1) return found[0];
            var listed = string.Join(", ", open.Select(scene => scene.Path.Length == 0 ? $"{scene.Name} (untitled)" : scene.Path));
            throw found.Count == 0
                ? new ToolException("scene_not_open", $"No open scene is {wanted}. Open are {listed}.")
                : new ToolException("scene_ambiguous", $"{found.Count} open scenes are {wanted}: give the path. Open are {listed}.");
        }

        private string NewPath(LoadedScene scene, string given)
        {
            const string parameter = nameof(SaveSceneSchema.SaveAs);
            if (scene.IsPrefab) throw new ToolException(ToolException.InvalidArguments, "A prefab is saved where it is.");
            return ScenePath.Checked(parameter, given) == scene.Path
                ? scene.Path
                : ScenePath.New(scenes, assets, parameter, given, "choose another path");
        }
    }
}
