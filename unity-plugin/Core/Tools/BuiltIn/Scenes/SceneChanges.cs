#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>A scene as answers list it.</summary>
    public sealed class ListedScene
    {
        internal ListedScene(LoadedScene scene)
        {
            Name = scene.Name;
            Path = scene.Path;
            IsDirty = scene.IsDirty;
            IsActive = scene.IsActive;
        }

        [JsonProperty("name")]
        public string Name { get; }

        [JsonProperty("path")]
        public string Path { get; }

        [JsonProperty("isDirty")]
        public bool IsDirty { get; }

        [JsonProperty("isActive")]
        public bool IsActive { get; }

        internal static IReadOnlyList<ListedScene> Of(ISceneFiles scenes) =>
            scenes.Open().Select(scene => new ListedScene(scene)).ToList();
    }

    /// <summary>What opening, saving and making scenes have in common.</summary>
    internal static class SceneChanges
    {
        public static void RefuseInPlayMode(IObjectEditing objects)
        {
            if (!objects.IsPlaying) return;
            throw new ToolException("editor_is_playing", "Scenes cannot be opened, made or saved in play mode: leave it first (control-play-mode, Action: Exit).");
        }

        /// <summary>Throws ToolException when an open scene, or the open prefab, has changes that are not saved.</summary>
        /// <param name="otherwise">What the caller can do.</param>
        public static void RefuseUnsaved(ISceneFiles scenes, string otherwise)
        {
            var unsaved = scenes.Open().Where(scene => scene.IsDirty).ToList();
            if (unsaved.Count == 0) return;
            throw new ToolException(
                "unsaved_scenes", $"{Names(unsaved)} {(unsaved.Count == 1 ? "has" : "have")} changes that are not saved. {otherwise}");
        }

        /// <summary>Throws a ToolException unless a call that is not save-scene may save scenes as well.</summary>
        /// <param name="what">The call, as the beginning of a sentence.</param>
        public static void RefuseSaving(string what, SecuritySnapshot settings)
        {
            var refusal = ToolConsent.NeedsTool(what, SaveSceneTool.ToolName, SecuritySetting.SceneEditing, settings);
            if (refusal != null) throw new ToolException("security_blocked", refusal);
        }

        /// <summary>Saves what is changed where it is; returns the paths.</summary>
        public static IReadOnlyList<string> SaveAll(ISceneFiles scenes)
        {
            var unsaved = scenes.Open().Where(scene => scene.IsDirty).ToList();
            if (unsaved.Any(scene => scene.Path.Length == 0)) throw Untitled();
            foreach (var scene in unsaved) Save(scenes, scene, scene.Path);
            return unsaved.Select(scene => scene.Path).ToList();
        }

        public static void Save(ISceneFiles scenes, LoadedScene scene, string path)
        {
            if (scenes.Save(scene, path)) return;
            throw new ToolException(
                "scene_not_saved", $"Unity did not save {path}: look whether its folder exists and the file can be written.");
        }

        public static ToolException Untitled() => new ToolException(
            "scene_untitled", "An open scene was never saved and has no path: save it first with save-scene and SaveAs.");

        private static string Names(IEnumerable<LoadedScene> scenes) =>
            string.Join(", ", scenes.Select(scene => scene.Path.Length == 0 ? "An untitled scene" : scene.Path));
    }
}
