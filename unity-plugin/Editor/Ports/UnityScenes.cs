#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using UnityEngine;
using UnityEngine.SceneManagement;

namespace JobBroker.Bridge.Unity
{
    /// <summary>The loaded scenes. Main thread only.</summary>
    internal sealed class UnityScenes : ISceneQuery
    {
        public IReadOnlyList<SceneObject> Roots()
        {
            var roots = new List<SceneObject>();
            for (var index = 0; index < SceneManager.sceneCount; index++)
            {
                var scene = SceneManager.GetSceneAt(index);
                if (!scene.isLoaded) continue;
                roots.AddRange(scene.GetRootGameObjects().Select(root => Read(root, "", scene.name)));
            }
            return roots;
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

        private static SceneObject Read(GameObject one, string parent, string scene)
        {
            var path = parent.Length == 0 ? one.name : parent + "/" + one.name;
            return new SceneObject(
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
