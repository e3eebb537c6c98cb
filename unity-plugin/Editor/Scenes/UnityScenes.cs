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
    /// <summary>The loaded scenes, and the prefab of Prefab Mode. Main thread only.</summary>
    internal sealed class UnityScenes : ISceneQuery
    {
        private const string Outliving = "DontDestroyOnLoad";

        public IReadOnlyList<SceneObject> Roots() => OpenRoots().Select(root => Read(root.Key, "", root.Value)).ToList();

        public SceneObject? Find(string id)
        {
            var found = ObjectIds.Find(id, OpenRoots().Select(root => root.Key));
            return found == null ? null : Read(found);
        }

        public IReadOnlyList<string> Selection() => UnityEditor.Selection.gameObjects.Select(PathOf).ToList();

        public IReadOnlyList<ComponentDetails> Components(SceneObject target, bool inherited)
        {
            var found = target.Handle as GameObject;
            // Unity's own comparison: true also for an object that was destroyed meanwhile.
            if (found == null) return new ComponentDetails[0];
            return found.GetComponents<Component>()
                .Where(component => component != null)
                .Select(component => ComponentReader.Read(component, inherited))
                .ToList();
        }

        /// <summary>An object by itself, as it is now.</summary>
        public static SceneObject Read(GameObject one)
        {
            var path = PathOf(one);
            var name = path.LastIndexOf('/');
            return Read(one, name < 0 ? "" : path.Substring(0, path.Length - one.name.Length - 1), SceneOf(one));
        }

        /// <summary>The prefab that is open in Prefab Mode; null when none is.</summary>
        public static PrefabStage? Prefab()
        {
            var stage = PrefabStageUtility.GetCurrentPrefabStage();
            return stage == null || stage.prefabContentsRoot == null ? null : stage;
        }

        public static string NameOf(PrefabStage stage) => Path.GetFileNameWithoutExtension(stage.assetPath);

        /// <summary>Roots with the names of their scenes.</summary>
        private static IEnumerable<KeyValuePair<GameObject, string>> OpenRoots()
        {
            var roots = new List<KeyValuePair<GameObject, string>>();
            for (var index = 0; index < SceneManager.sceneCount; index++)
            {
                var scene = SceneManager.GetSceneAt(index);
                if (!scene.isLoaded) continue;
                roots.AddRange(scene.GetRootGameObjects().Select(root => new KeyValuePair<GameObject, string>(root, scene.name)));
            }
            // Unity does not count the scene of what outlives the others.
            if (EditorApplication.isPlaying)
            {
                roots.AddRange(Resources.FindObjectsOfTypeAll<GameObject>()
                    .Where(one => one.scene.name == Outliving && one.transform.parent == null)
                    .Select(one => new KeyValuePair<GameObject, string>(one, Outliving)));
            }
            var stage = Prefab();
            if (stage != null) roots.Add(new KeyValuePair<GameObject, string>(stage.prefabContentsRoot, NameOf(stage)));
            return roots;
        }

        private static string SceneOf(GameObject one)
        {
            var stage = Prefab();
            return stage != null && stage.IsPartOfPrefabContents(one) ? NameOf(stage) : one.scene.name;
        }

        private static SceneObject Read(GameObject one, string parent, string scene)
        {
            var path = parent.Length == 0 ? one.name : parent + "/" + one.name;
            return new SceneObject(
                () => ObjectIds.Of(one),
                one.name,
                path,
                scene,
                one.activeInHierarchy,
                one.tag,
                one.layer,
                ComponentNames(one),
                one.transform.Cast<Transform>().Select(child => Read(child.gameObject, path, scene)),
                one);
        }

        private static IEnumerable<string> ComponentNames(GameObject one)
        {
            // A component whose script is gone is null.
            foreach (var component in one.GetComponents<Component>())
            {
                yield return component == null ? "Missing script" : component.GetType().Name;
            }
        }

        internal static string PathOf(GameObject one)
        {
            var path = one.name;
            for (var parent = one.transform.parent; parent != null; parent = parent.parent)
            {
                path = parent.gameObject.name + "/" + path;
            }
            return path;
        }
    }
}
