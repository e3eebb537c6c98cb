#nullable enable
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEditor.SceneManagement;
using UnityEngine;
using UnityEngine.SceneManagement;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Opens and saves scenes without a dialog. Main thread only.</summary>
    internal sealed class UnitySceneFiles : ISceneFiles
    {
        public IReadOnlyList<LoadedScene> Open()
        {
            var open = new List<LoadedScene>();
            var active = SceneManager.GetActiveScene();
            for (var index = 0; index < SceneManager.sceneCount; index++)
            {
                var scene = SceneManager.GetSceneAt(index);
                if (scene.isLoaded) open.Add(Told(scene, scene == active));
            }
            var stage = UnityScenes.Prefab();
            if (stage != null)
            {
                open.Add(new LoadedScene(UnityScenes.NameOf(stage), stage.assetPath, stage.scene.isDirty, false, true, stage));
            }
            return open;
        }

        public IReadOnlyList<string> Known() => AssetDatabase.FindAssets("t:Scene").Select(AssetDatabase.GUIDToAssetPath).ToList();

        public void Load(string path, bool additive)
        {
            if (!additive) LeavePrefab();
            EditorSceneManager.OpenScene(path, additive ? OpenSceneMode.Additive : OpenSceneMode.Single);
        }

        public LoadedScene Make(bool empty, bool additive)
        {
            if (!additive) LeavePrefab();
            var setup = empty ? NewSceneSetup.EmptyScene : NewSceneSetup.DefaultGameObjects;
            var made = EditorSceneManager.NewScene(setup, additive ? NewSceneMode.Additive : NewSceneMode.Single);
            return Told(made, made == SceneManager.GetActiveScene());
        }

        public bool Save(LoadedScene scene, string path)
        {
            // Unity asks a person about a file that is read-only.
            var file = Path.GetFullPath(Path.Combine(Application.dataPath, "..", path));
            if (File.Exists(file) && (File.GetAttributes(file) & FileAttributes.ReadOnly) != 0) return false;
            if (!(scene.Handle is PrefabStage stage)) return EditorSceneManager.SaveScene((Scene)scene.Handle!, path);
            PrefabUtility.SaveAsPrefabAsset(stage.prefabContentsRoot, stage.assetPath, out var isSaved);
            if (isSaved) stage.ClearDirtiness();
            return isSaved;
        }

        public void Forget(LoadedScene prefab) => ((PrefabStage)prefab.Handle!).ClearDirtiness();

        /// <summary>Unity asks a person when it closes a prefab with unsaved changes: callers have seen to it that it has none.</summary>
        private static void LeavePrefab()
        {
            if (UnityScenes.Prefab() != null) StageUtility.GoToMainStage();
        }

        private static LoadedScene Told(Scene scene, bool isActive)
        {
            var path = scene.path ?? "";
            var name = string.IsNullOrEmpty(scene.name) ? "Untitled" : scene.name;
            return new LoadedScene(name, path, scene.isDirty, isActive, false, scene);
        }
    }
}
