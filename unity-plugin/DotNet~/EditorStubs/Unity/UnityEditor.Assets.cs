#nullable disable
using System;
using System.Linq;
using JobBroker.EditorStubs;
using UnityEngine;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    public struct GUID
    {
        internal string Text;

        public override string ToString() => Text ?? new string('0', 32);
    }

    public struct GlobalObjectId
    {
        internal Object Target;

        public GUID assetGUID { get; internal set; }

        public int identifierType { get; internal set; }

        public ulong targetObjectId { get; internal set; }

        public ulong targetPrefabId { get; internal set; }

        /// <summary>Here an object's number is its id; one of a scene that was never saved has none.</summary>
        public static GlobalObjectId GetGlobalObjectIdSlow(Object targetObject)
        {
            var scene = ((GameObject)targetObject).Owner;
            if (scene.Path.Length == 0) return default;
            return new GlobalObjectId
            {
                identifierType = 2,
                targetObjectId = (ulong)targetObject.Number,
                assetGUID = new GUID { Text = AssetDatabase.AssetPathToGUID(scene.Path) },
            };
        }

        public static bool TryParse(string stringValue, out GlobalObjectId id)
        {
            id = default;
            if (!stringValue.StartsWith("GlobalObjectId_V1-", StringComparison.Ordinal)) return false;
            var parts = stringValue.Split('-');
            if (parts.Length == 5) id.Target = Find(parts[2], ulong.Parse(parts[3]));
            return true;
        }

        public static Object GlobalObjectIdentifierToObjectSlow(GlobalObjectId id) => id.Target;

        private static Object Find(string guid, ulong number) => Resources.FindObjectsOfTypeAll<GameObject>()
            .FirstOrDefault(one => one.Number == (int)number && AssetDatabase.AssetPathToGUID(one.Owner.Path) == guid);
    }

    public partial class AssetDatabase
    {
        public static bool IsAssetImportWorkerProcess() => StubEditor.IsImportWorker;

        public static void Refresh() => StubEditor.Refreshes++;

        public static string GUIDToAssetPath(GUID guid) => "Assets/Found.mat";

        public static string GUIDToAssetPath(string guid) => StubProject.PathOf(guid)
            ?? StubEditor.ScenePaths.First(path => AssetPathToGUID(path) == guid);

        public static string AssetPathToGUID(string path)
        {
            using (var md5 = System.Security.Cryptography.MD5.Create())
            {
                var digest = md5.ComputeHash(System.Text.Encoding.UTF8.GetBytes(path));
                return string.Concat(digest.Select(one => one.ToString("x2")));
            }
        }

        public static string[] FindAssets(string filter) => StubEditor.ScenePaths.Select(AssetPathToGUID).ToArray();

        public static string GetAssetPath(Object assetObject) => StubProject.Has(assetObject.name)
            ? assetObject.name
            : StubEditor.AssetObjects.FirstOrDefault(entry => entry.Value.Contains(assetObject)).Key ?? "";

        public static Object LoadMainAssetAtPath(string assetPath) => LoadAllAssetsAtPath(assetPath).FirstOrDefault();

        public static Object[] LoadAllAssetsAtPath(string assetPath) =>
            StubEditor.AssetObjects.TryGetValue(assetPath, out var found) ? found : Array.Empty<Object>();

        public static Type GetMainAssetTypeAtPath(string assetPath) => StubProject.TypeOf(assetPath);
    }

    public class AssetPostprocessor
    {
    }
}

namespace UnityEditor.MPE
{
    public enum ProcessLevel
    {
        Undefined = 0,
        Main = 1,
        Secondary = 2,
    }

    public static class ProcessService
    {
        public static ProcessLevel level => StubEditor.IsSecondaryProcess ? ProcessLevel.Secondary : ProcessLevel.Main;
    }
}

namespace UnityEditor.PackageManager
{
    public partial class PackageInfo
    {
        public static PackageInfo FindForAssembly(System.Reflection.Assembly assembly) =>
            StubEditor.Packages.TryGetValue(assembly.GetName().Name, out var package) ? package : null;
    }
}
