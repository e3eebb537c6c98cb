#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Objects of the scenes in the order of the Hierarchy window.</summary>
    internal static class SceneWalk
    {
        /// <summary>
        /// The objects and all below them with their depth, 0 for the given ones. Never recursive: trees may be deep.
        /// </summary>
        /// <param name="maxDepth">Below 0: no limit.</param>
        public static IEnumerable<KeyValuePair<SceneObject, int>> From(
            IEnumerable<SceneObject> roots,
            bool includeInactive,
            int maxDepth = -1)
        {
            var open = new Stack<KeyValuePair<SceneObject, int>>();
            Push(open, roots, 0);
            while (open.Count > 0)
            {
                var next = open.Pop();
                if (!includeInactive && !next.Key.Active) continue;
                yield return next;
                if (maxDepth < 0 || next.Value < maxDepth) Push(open, next.Key.Children, next.Value + 1);
            }
        }

        /// <summary>A path as results show it: from the root, with a slash in front.</summary>
        public static string Rooted(string path) => "/" + path.Trim('/');

        public static bool SamePath(string left, string right) =>
            string.Equals(Rooted(left), Rooted(right), StringComparison.Ordinal);

        /// <summary>The selected objects; one below another selected one is listed once.</summary>
        public static IReadOnlyList<SceneObject> Selected(ISceneQuery scene)
        {
            var selected = scene.Selection().Select(Rooted).ToList();
            var tops = selected.Where(path => !selected.Any(other => IsBelow(path, other))).ToList();
            return From(scene.Roots(), true)
                .Select(entry => entry.Key)
                .Where(one => tops.Contains(Rooted(one.Path)))
                .ToList();
        }

        private static bool IsBelow(string path, string other) =>
            path.StartsWith(other + "/", StringComparison.Ordinal);

        private static void Push(
            Stack<KeyValuePair<SceneObject, int>> open,
            IEnumerable<SceneObject> objects,
            int depth)
        {
            foreach (var one in objects.Reverse()) open.Push(new KeyValuePair<SceneObject, int>(one, depth));
        }
    }
}
