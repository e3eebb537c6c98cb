#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using UnityEditor;
using UnityEngine;
using Object = UnityEngine.Object;

namespace JobBroker.Bridge.Unity
{
    /// <summary>What serialized properties refer to: objects of scenes, their components, and assets. Main thread only.</summary>
    internal static class SerializedReferences
    {
        public static ObjectReference? Read(Object? one)
        {
            if (one == null) return null;
            var type = one.GetType().Name;
            var owner = one is Component component ? component.gameObject : one as GameObject;
            var asset = AssetDatabase.GetAssetPath(one);
            if (owner != null && string.IsNullOrEmpty(asset)) return new ObjectReference(UnityScenes.Read(owner), null, type);
            return new ObjectReference(null, string.IsNullOrEmpty(asset) ? one.name : asset, type);
        }

        /// <summary>Unity sets null for what has another type, and says nothing: here it is a ToolException.</summary>
        public static void Write(SerializedProperty property, ObjectReference? wanted)
        {
            if (wanted == null)
            {
                property.objectReferenceValue = null;
                return;
            }
            var type = TypeOf(property);
            var found = wanted.InScene != null ? InScene(wanted.InScene, type) : InAsset(wanted.Asset!, type);
            if (found != null) property.objectReferenceValue = found;
            if (found != null && property.objectReferenceValue == found) return;
            var given = wanted.InScene?.Name ?? wanted.Asset;
            throw new ToolException("reference_refused", $"{property.propertyPath} wants a {type}, and {given} has none.");
        }

        /// <summary>The type's name in PPtr&lt;$Mover&gt;, where a dollar stands before those of scripts.</summary>
        private static string TypeOf(SerializedProperty property)
        {
            var parts = property.type.Split('<', '>');
            return (parts.Length > 1 ? parts[1] : parts[0]).TrimStart('$');
        }

        private static Object? InScene(SceneObject one, string type)
        {
            var target = one.Handle as GameObject;
            return target == null ? null : On(target, type);
        }

        private static Object? InAsset(string path, string type)
        {
            var main = AssetDatabase.LoadMainAssetAtPath(path);
            if (main == null) throw new ToolException("asset_not_found", $"There is no asset {path}.");
            if (main is GameObject prefab) return On(prefab, type);
            if (IsA(main.GetType(), type)) return main;
            return AssetDatabase.LoadAllAssetsAtPath(path).FirstOrDefault(one => one != null && IsA(one.GetType(), type));
        }

        private static Object? On(GameObject target, string type)
        {
            if (IsA(typeof(GameObject), type)) return target;
            return target.GetComponents<Component>().FirstOrDefault(one => one != null && IsA(one.GetType(), type));
        }

        private static bool IsA(Type type, string name)
        {
            for (var at = type; at != null; at = at.BaseType)
            {
                if (at.Name == name) return true;
            }
            return false;
        }
    }
}
