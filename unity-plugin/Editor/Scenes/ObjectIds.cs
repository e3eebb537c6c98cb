#nullable enable
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using UnityEditor;
using UnityEditor.SceneManagement;
using UnityEngine;
using UnityEngine.SceneManagement;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Ids of objects. That of an object of a saved scene outlives loading the scene again and a restart: Unity's global
    /// id, written short (object, prefab instance, begin of the scene's GUID). Whatever else is open, and everything in play
    /// mode, has the number that Unity gave it in this session. Main thread only.
    /// </summary>
    internal static class ObjectIds
    {
        private const int InScene = 2;
        private const int GuidLength = 8;

        public static string Of(GameObject one)
        {
            var scene = one.scene;
            if (EditorApplication.isPlaying || string.IsNullOrEmpty(scene.path) || EditorSceneManager.IsPreviewScene(scene))
            {
                return OfSession(one);
            }
            var id = GlobalObjectId.GetGlobalObjectIdSlow(one);
            if (id.identifierType != InScene || id.targetObjectId == 0) return OfSession(one);
            var prefab = id.targetPrefabId == 0 ? "" : "." + id.targetPrefabId.ToString(CultureInfo.InvariantCulture);
            var number = id.targetObjectId.ToString(CultureInfo.InvariantCulture);
            return $"{number}{prefab}@{id.assetGUID.ToString().Substring(0, GuidLength)}";
        }

        /// <summary>Null when no open scene has it.</summary>
        /// <param name="open">The roots of what is open.</param>
        public static GameObject? Find(string id, IEnumerable<GameObject> open)
        {
            var at = id.IndexOf('@');
            if (at < 0) return open.SelectMany(Below).FirstOrDefault(one => OfSession(one) == id);
            var numbers = id.Substring(0, at).Split('.');
            var prefab = numbers.Length > 1 ? numbers[1] : "0";
            for (var index = 0; index < SceneManager.sceneCount; index++)
            {
                var guid = AssetDatabase.AssetPathToGUID(SceneManager.GetSceneAt(index).path);
                if (guid.Length < GuidLength || guid.Substring(0, GuidLength) != id.Substring(at + 1)) continue;
                if (!GlobalObjectId.TryParse($"GlobalObjectId_V1-{InScene}-{guid}-{numbers[0]}-{prefab}", out var whole)) continue;
                var found = GlobalObjectId.GlobalObjectIdentifierToObjectSlow(whole) as GameObject;
                if (found != null) return found;
            }
            return null;
        }

        /// <summary>The object and all below it. Never recursive: trees may be deep.</summary>
        public static IEnumerable<GameObject> Below(GameObject root)
        {
            var open = new Stack<GameObject>();
            open.Push(root);
            while (open.Count > 0)
            {
                var next = open.Pop();
                yield return next;
                foreach (Transform child in next.transform) open.Push(child.gameObject);
            }
        }

        private static string OfSession(Object one) =>
#if UNITY_6000_3_OR_NEWER
            "#" + one.GetEntityId().ToString();
#else
            "#" + one.GetInstanceID().ToString(CultureInfo.InvariantCulture);
#endif
    }
}
