#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using UnityEditor;
using UnityEditor.SceneManagement;
using UnityEditorInternal;
using UnityEngine;
using Object = UnityEngine.Object;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Changes objects through Unity's Undo. Main thread only.</summary>
    internal sealed class UnityObjects : IObjectEditing
    {
        private const string Step = "Job Broker";

        public bool IsPlaying => EditorApplication.isPlaying;

        public IReadOnlyList<string> Tags => InternalEditorUtility.tags;

        public IReadOnlyList<string> Layers => Enumerable.Range(0, 32).Select(LayerMask.LayerToName).ToList();

        public IUndoStep BeginUndo(string name) => new UndoStep(name);

        public bool IsPrefab(string path) => PrefabAt(path) != null;

        public SceneObject Create(NewObject wanted)
        {
            var stage = UnityScenes.Prefab();
            var parent = wanted.Parent != null ? Alive(wanted.Parent).transform
                : stage != null ? stage.prefabContentsRoot.transform
                : null;
            var made = wanted.Prefab != null ? (GameObject)PrefabUtility.InstantiatePrefab(PrefabAt(wanted.Prefab)!)
                : wanted.Primitive != null ? GameObject.CreatePrimitive((PrimitiveType)Enum.Parse(typeof(PrimitiveType), wanted.Primitive))
                : new GameObject("GameObject");
            if (wanted.Name.Length > 0) made.name = wanted.Name;
            if (parent != null) made.transform.SetParent(parent, false);
            Undo.RegisterCreatedObjectUndo(made, Step);
            return UnityScenes.Read(made);
        }

        public SceneObject Change(SceneObject one, ObjectChange change)
        {
            var target = Alive(one);
            Undo.RecordObject(target, Step);
            if (change.Name != null) target.name = change.Name;
            if (change.Active != null) target.SetActive(change.Active.Value);
            if (change.Tag != null) target.tag = change.Tag;
            if (change.Layer != null) target.layer = change.Layer.Value;
            Recorded(target);
            Place(target.transform, change);
            return UnityScenes.Read(target);
        }

        public SceneObject Move(SceneObject one, SceneObject? parent, bool keepsWorld)
        {
            var target = Alive(one).transform;
            var wanted = parent != null ? Alive(parent).transform
                : IsInPrefabMode(one) ? UnityScenes.Prefab()!.prefabContentsRoot.transform
                : null;
            if (target.parent == wanted) return UnityScenes.Read(target.gameObject);
            var position = target.localPosition;
            var rotation = target.localRotation;
            var scale = target.localScale;
            Undo.SetTransformParent(target, wanted, Step);
            // Unity says why in the Console only.
            if (target.parent != wanted)
            {
                throw new ToolException("parent_refused", $"Unity did not move {one.Name}: an object of a prefab instance stays where it is in it.");
            }
            if (!keepsWorld)
            {
                Undo.RecordObject(target, Step);
                target.localPosition = position;
                target.localRotation = rotation;
                target.localScale = scale;
                Recorded(target);
            }
            return UnityScenes.Read(target.gameObject);
        }

        public void Delete(SceneObject one)
        {
            var target = Alive(one);
            Refusing("delete_refused", () => Undo.DestroyObjectImmediate(target));
            if (target != null) throw new ToolException("delete_refused", $"Unity did not delete {one.Name}; the Console (get-logs) says why. Remove that reason, then call again.");
        }

        public bool IsInPrefabMode(SceneObject one)
        {
            var stage = UnityScenes.Prefab();
            return stage != null && one.Handle is GameObject target && target != null && stage.IsPartOfPrefabContents(target);
        }

        public bool IsPrefabRoot(SceneObject one)
        {
            var stage = UnityScenes.Prefab();
            return stage != null && one.Handle as GameObject == stage.prefabContentsRoot;
        }

        public IReadOnlyList<ObjectComponent> ComponentsOf(SceneObject one) =>
            Alive(one).GetComponents<Component>().Select(Told).ToList();

        public IReadOnlyList<string> ComponentTypes(string name) => TypeCache.GetTypesDerivedFrom<Component>()
            .Where(type => !type.IsAbstract && !type.IsGenericType)
            .Where(type => Same(type.Name, name) || Same(type.FullName, name))
            .Select(type => type.FullName ?? type.Name)
            .Distinct()
            .ToList();

        public ObjectComponent Add(SceneObject one, string fullTypeName)
        {
            var type = TypeCache.GetTypesDerivedFrom<Component>().First(found => found.FullName == fullTypeName);
            var target = Alive(one);
            Component? made = null;
            Refusing("component_refused", () => made = Undo.AddComponent(target, type));
            if (made == null)
            {
                throw new ToolException("component_refused", $"Unity did not add {type.Name} to {one.Name}; the Console (get-logs) says why. Remove that reason, then call again.");
            }
            return Told(made);
        }

        public void Remove(ObjectComponent component)
        {
            if (!(component.Handle is Component target))
            {
                throw new ToolException("missing_script", "The script of that component is missing, and Unity cannot remove it alone. Put the script back into the project, or ask a person to remove it in the Inspector.");
            }
            Refusing("component_refused", () => Undo.DestroyObjectImmediate(target));
            // Unity says why in the Console only.
            if (target != null)
            {
                throw new ToolException("component_refused", $"Unity did not remove {component.Type}: another component needs it. Remove that one first.");
            }
        }

        public IPropertyEditing Edit(ObjectComponent component) => new UnityProperties((Component)component.Handle!);

        private static void Place(Transform target, ObjectChange change)
        {
            if (change.Position == null && change.Rotation == null && change.Scale == null) return;
            Undo.RecordObject(target, Step);
            if (change.Position != null && change.IsWorld) target.position = Vector(change.Position);
            else if (change.Position != null) target.localPosition = Vector(change.Position);
            if (change.Rotation != null && change.IsWorld) target.eulerAngles = Vector(change.Rotation);
            else if (change.Rotation != null) target.localEulerAngles = Vector(change.Rotation);
            if (change.Scale != null) target.localScale = Vector(change.Scale);
            Recorded(target);
        }

        /// <summary>An instance of a prefab keeps what is changed directly only when it is told.</summary>
        private static void Recorded(Object changed)
        {
            if (PrefabUtility.IsPartOfPrefabInstance(changed)) PrefabUtility.RecordPrefabInstancePropertyModifications(changed);
        }

        private static void Refusing(string type, Action act)
        {
            try
            {
                act();
            }
            catch (Exception error) when (error is InvalidOperationException || error is ArgumentException)
            {
                throw new ToolException(type, $"Unity refused: {error.Message}", error);
            }
        }

        private static GameObject? PrefabAt(string path)
        {
            var found = AssetDatabase.LoadMainAssetAtPath(path) as GameObject;
            return found != null ? found : null;
        }

        private static GameObject Alive(SceneObject one)
        {
            var found = one.Handle as GameObject;
            if (found != null) return found;
            throw new ToolException("game_object_not_found", $"{one.Name} is gone.");
        }

        private static ObjectComponent Told(Component component) => component == null
            ? new ObjectComponent("Missing script", "Missing script", null)
            : new ObjectComponent(component.GetType().Name, component.GetType().FullName ?? "", component);

        private static bool Same(string? left, string right) => string.Equals(left, right, StringComparison.OrdinalIgnoreCase);

        private static Vector3 Vector(double[] numbers) => new Vector3((float)numbers[0], (float)numbers[1], (float)numbers[2]);
    }
}
