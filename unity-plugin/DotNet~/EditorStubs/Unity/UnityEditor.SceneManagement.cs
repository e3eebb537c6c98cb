#nullable disable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.EditorStubs;
using UnityEngine;
using UnityEngine.SceneManagement;
using Object = UnityEngine.Object;

namespace UnityEditor.SceneManagement
{
    public enum OpenSceneMode
    {
        Single,
        Additive,
    }

    public enum NewSceneMode
    {
        Single,
        Additive,
    }

    public enum NewSceneSetup
    {
        EmptyScene,
        DefaultGameObjects,
    }

    public sealed class EditorSceneManager : SceneManager
    {
        /// <summary>A scene without a file, or with one that is read-only, is asked about in a dialog.</summary>
        public static bool SaveScene(Scene scene)
        {
            if (scene.path.Length == 0) StubEditor.SaveDialogs++;
            if (scene.path.Length == 0 || scene.Stub.CannotBeSaved) return false;
            scene.Stub.IsDirty = false;
            return true;
        }

        public static Scene OpenScene(string scenePath, OpenSceneMode mode)
        {
            RefuseInPlayMode();
            if (mode == OpenSceneMode.Single) StubEditor.Scenes.Clear();
            var opened = StubEditor.Scenes.FirstOrDefault(scene => scene.Path == scenePath) ?? new StubScene(System.IO.Path.GetFileNameWithoutExtension(scenePath), scenePath);
            if (!StubEditor.Scenes.Contains(opened)) StubEditor.Scenes.Add(opened);
            return new Scene(opened);
        }

        public static Scene NewScene(NewSceneSetup setup, NewSceneMode mode)
        {
            RefuseInPlayMode();
            if (mode == NewSceneMode.Single) StubEditor.Scenes.Clear();
            else if (StubEditor.Scenes.Any(scene => scene.Path.Length == 0)) throw new InvalidOperationException("A scene is untitled.");
            var made = new StubScene("", "");
            StubEditor.Scenes.Add(made);
            return new Scene(made);
        }

        public static bool SaveScene(Scene scene, string dstScenePath)
        {
            if (StubEditor.DiskIsFull) return false;
            scene.Stub.Path = dstScenePath;
            scene.Stub.Name = System.IO.Path.GetFileNameWithoutExtension(dstScenePath);
            scene.Stub.IsDirty = false;
            StubEditor.ScenePaths.Add(dstScenePath);
            return true;
        }

        public static bool IsPreviewScene(Scene scene) => scene.Stub.IsPreview;

        private static void RefuseInPlayMode()
        {
            if (EditorApplication.isPlaying) throw new InvalidOperationException("This cannot be used during play mode.");
        }
    }

    public abstract class Stage : ScriptableObject
    {
        public abstract string assetPath { get; }
    }

    public abstract class PreviewSceneStage : Stage
    {
        internal StubScene Stub { get; set; }

        public Scene scene => new Scene(Stub);
    }

    public sealed class PrefabStage : PreviewSceneStage
    {
        public override string assetPath => Stub.Path;

        public GameObject prefabContentsRoot => Stub.Roots.FirstOrDefault();

        public bool IsPartOfPrefabContents(GameObject gameObject) => gameObject.Owner == Stub;

        public void ClearDirtiness() => Stub.IsDirty = false;
    }

    public static class PrefabStageUtility
    {
        public static PrefabStage GetCurrentPrefabStage() => StubEditor.PrefabStage;
    }

    public static class StageUtility
    {
        public static void GoToMainStage()
        {
            if (StubEditor.PrefabStage.scene.isDirty) StubEditor.Dialogs++;
            StubEditor.PrefabInStage = null;
        }
    }
}

namespace UnityEditor
{
    public static class PrefabUtility
    {
        public static Object InstantiatePrefab(Object assetComponentOrGameObject)
        {
            var made = ((GameObject)assetComponentOrGameObject).Clone();
            StubEditor.PrefabInstances.Add(made);
            foreach (Transform child in made.transform) StubEditor.PrefabInstances.Add(child.gameObject);
            return made;
        }

        public static bool IsPartOfPrefabInstance(Object componentOrGameObject)
        {
            var owner = (componentOrGameObject as Component)?.gameObject ?? componentOrGameObject as GameObject;
            return StubEditor.PrefabInstances.Contains(owner);
        }

        public static void RecordPrefabInstancePropertyModifications(Object targetObject) => StubEditor.RecordedOverrides++;

        public static GameObject SaveAsPrefabAsset(GameObject instanceRoot, string assetPath, out bool success)
        {
            if (instanceRoot.transform.parent != null && instanceRoot.name == "Part of a prefab")
            {
                throw new ArgumentException("Can't save part of a Prefab instance as a Prefab");
            }
            success = !StubEditor.DiskIsFull && StubProject.Do($"Prefab {instanceRoot.name} {assetPath}");
            if (success) StubProject.Add(assetPath, typeof(GameObject));
            return success ? instanceRoot : null;
        }
    }
}
