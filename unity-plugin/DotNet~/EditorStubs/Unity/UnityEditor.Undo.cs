#nullable disable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.EditorStubs;
using UnityEngine;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    /// <summary>Takes back by what was kept of the objects; marks their scenes as changed.</summary>
    public class Undo
    {
        private static readonly List<(int Group, Action Revert)> done = new List<(int, Action)>();
        private static readonly Dictionary<int, string> names = new Dictionary<int, string>();
        private static int group;

        /// <summary>Names of the groups that can be undone, the newest first.</summary>
        internal static IEnumerable<string> Groups => done.Select(one => one.Group).Distinct().Reverse().Select(one => names[one]);

        public static void IncrementCurrentGroup() => group++;

        public static int GetCurrentGroup() => group;

        public static void SetCurrentGroupName(string name) => names[group] = name;

        public static void CollapseUndoOperations(int groupIndex)
        {
            for (var index = 0; index < done.Count; index++)
            {
                if (done[index].Group > groupIndex) done[index] = (groupIndex, done[index].Revert);
            }
            names[groupIndex] = names[group];
        }

        public static void RevertAllDownToGroup(int group)
        {
            while (done.Count > 0 && done[done.Count - 1].Group >= group) RevertLast();
        }

        public static void FlushUndoRecordObjects()
        {
        }

        public static void RecordObject(Object objectToUndo, string name) => Keep(objectToUndo, objectToUndo.Capture());

        public static void RegisterCreatedObjectUndo(Object objectToUndo, string name) =>
            Keep(objectToUndo, () => Remove((GameObject)objectToUndo));

        public static Component AddComponent(GameObject gameObject, Type type)
        {
            if (typeof(Transform).IsAssignableFrom(type)) return null;
            var made = gameObject.Add(type);
            Keep(made, () => gameObject.Take(made));
            return made;
        }

        public static void SetTransformParent(Transform transform, Transform newParent, string name)
        {
            // A person reads why in the Console.
            if (StubEditor.PrefabInstances.Contains(transform.gameObject) && transform.parent != null) return;
            var before = transform.parent;
            Keep(transform, () => transform.SetParent(before, true));
            transform.SetParent(newParent, true);
        }

        public static void DestroyObjectImmediate(Object objectToUndo)
        {
            if (objectToUndo is Component component) Destroy(component);
            else Destroy((GameObject)objectToUndo);
        }

        internal static void Perform()
        {
            var last = done[done.Count - 1].Group;
            while (done.Count > 0 && done[done.Count - 1].Group == last) RevertLast();
        }

        internal static void Forget() => done.Clear();

        private static void Destroy(Component component)
        {
            if (StubEditor.NeededComponents.Contains(component)) return;
            var owner = component.gameObject;
            var index = owner.Take(component);
            component.IsDestroyed = true;
            Keep(owner, () =>
            {
                component.IsDestroyed = false;
                owner.Put(component, index);
            });
        }

        private static void Destroy(GameObject target)
        {
            if (StubEditor.PrefabInstances.Contains(target) && target.transform.parent != null)
            {
                throw new InvalidOperationException("Destroying a GameObject inside a Prefab instance is not allowed.");
            }
            var (scene, parent) = (target.Owner, target.transform.parent);
            Keep(target, () =>
            {
                target.IsDestroyed = false;
                if (parent == null) scene.Roots.Add(target);
                else target.transform.Attach(parent);
            });
            Remove(target);
        }

        private static void Remove(GameObject target)
        {
            target.IsDestroyed = true;
            var scene = target.Owner;
            if (target.transform.parent != null) target.transform.Attach(null);
            scene?.Roots.Remove(target);
        }

        internal static void Keep(Object changed, Action revert)
        {
            var owner = (changed as Component)?.gameObject ?? (GameObject)changed;
            if (owner.Owner != null) owner.Owner.IsDirty = true;
            done.Add((group, revert));
            if (!names.ContainsKey(group)) names[group] = "";
        }

        private static void RevertLast()
        {
            var (_, revert) = done[done.Count - 1];
            done.RemoveAt(done.Count - 1);
            revert();
        }
    }
}
