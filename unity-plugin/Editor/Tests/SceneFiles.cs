#nullable enable
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ports;
using UnityEditor.SceneManagement;
using UnityEngine.SceneManagement;

namespace JobBroker.Bridge.Unity
{
    /// <summary>The loaded scenes and the prefab in Prefab Mode, as far as they differ from their files. Main thread only.</summary>
    internal static class SceneFiles
    {
        public static IReadOnlyList<UnsavedScene> Unsaved()
        {
            var unsaved = Dirty().Select(scene => new UnsavedScene(scene.name, scene.path)).ToList();
            var stage = PrefabStageUtility.GetCurrentPrefabStage();
            if (stage != null && stage.scene.isDirty)
            {
                unsaved.Add(new UnsavedScene(Path.GetFileNameWithoutExtension(stage.assetPath), stage.assetPath, true));
            }
            return unsaved;
        }

        /// <summary>Returns those that could not be saved. Unity asks before it writes to a file that is read-only.</summary>
        public static IReadOnlyList<UnsavedScene> Save(IReadOnlyList<UnsavedScene> scenes, string projectPath)
        {
            var failed = new List<UnsavedScene>();
            foreach (var unsaved in scenes)
            {
                var scene = Dirty().FirstOrDefault(one => one.path.Length > 0 && one.path == unsaved.Path);
                var isSaved = scene.IsValid() && !IsReadOnly(Path.Combine(projectPath, unsaved.Path)) && EditorSceneManager.SaveScene(scene);
                if (!isSaved) failed.Add(unsaved);
            }
            return failed;
        }

        private static IEnumerable<Scene> Dirty() => Enumerable.Range(0, SceneManager.sceneCount)
            .Select(SceneManager.GetSceneAt)
            .Where(scene => scene.isDirty);

        private static bool IsReadOnly(string path) =>
            File.Exists(path) && (File.GetAttributes(path) & FileAttributes.ReadOnly) != 0;
    }
}
