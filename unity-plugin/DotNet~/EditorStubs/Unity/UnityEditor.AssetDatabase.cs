#nullable disable
using System;
using System.Linq;
using JobBroker.EditorStubs;
using UnityEngine;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    [Flags]
    public enum ImportAssetOptions
    {
        Default = 0,
        ForceUpdate = 1,
        ImportRecursive = 256,
    }

    public enum AssetPathToGUIDOptions
    {
        IncludeRecentlyDeletedAssets = 0,
        OnlyExistingAssets = 1,
    }

    public class DefaultAsset : Object
    {
    }

    public class AssetImporter : Object
    {
        public static AssetImporter GetAtPath(string path) =>
            StubProject.TypeOf(path) == typeof(Texture2D) ? new StubImporter() : null;
    }

    internal sealed class StubImporter : AssetImporter
    {
        public bool isReadable = true;
    }

    public partial class AssetDatabase
    {
        /// <summary>Here a word is a part of the name, and t: the name of a type.</summary>
        public static string[] FindAssets(string filter, string[] searchInFolders)
        {
            var words = filter.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
            return StubProject.Paths
                .Where(path => searchInFolders.Any(folder => path.StartsWith(folder + "/", StringComparison.Ordinal)))
                .Where(path => words.All(word => word.StartsWith("t:", StringComparison.Ordinal)
                    ? StubProject.TypeOf(path).Name == word.Substring(2)
                    : path.Substring(path.LastIndexOf('/') + 1).Contains(word)))
                .Select(path => AssetPathToGUID(path, AssetPathToGUIDOptions.OnlyExistingAssets))
                .ToArray();
        }

        public static string AssetPathToGUID(string path, AssetPathToGUIDOptions options) =>
            StubProject.Has(path) ? "guid of " + path : "";

        public static bool IsValidFolder(string path) => StubProject.TypeOf(path) == typeof(DefaultAsset);

        public static void ImportAsset(string path, ImportAssetOptions options) => StubProject.Do($"Import {path} {options}");

        public static string MoveAsset(string oldPath, string newPath)
        {
            if (!StubProject.Do($"Move {oldPath} {newPath}")) return "It is locked.";
            StubProject.Transfer(oldPath, newPath, true);
            return "";
        }

        public static bool CopyAsset(string path, string newPath)
        {
            if (!StubProject.Do($"Copy {path} {newPath}")) return false;
            StubProject.Transfer(path, newPath, false);
            return true;
        }

        public static bool MoveAssetToTrash(string path)
        {
            if (!StubProject.Do("Trash " + path)) return false;
            StubProject.Transfer(path, null, true);
            return true;
        }

        public static string CreateFolder(string parentFolder, string newFolderName)
        {
            var path = parentFolder + "/" + newFolderName;
            if (!StubProject.Do("Folder " + path)) return "";
            StubProject.Add(path, typeof(DefaultAsset));
            return AssetPathToGUID(path, AssetPathToGUIDOptions.OnlyExistingAssets);
        }

        public static void CreateAsset(Object asset, string path)
        {
            if (!StubProject.Do($"Asset {path} {asset.name}")) throw new UnityException("Couldn't create asset file!");
            StubProject.Add(path, asset.GetType());
        }

        public static T LoadAssetAtPath<T>(string assetPath) where T : Object
        {
            if (StubProject.TypeOf(assetPath) != typeof(T)) return null;
            var loaded = Activator.CreateInstance<T>();
            loaded.name = assetPath;
            return loaded;
        }
    }
}

namespace UnityEngine
{
    public class UnityException : SystemException
    {
        public UnityException(string message) : base(message)
        {
        }
    }

    public class Shader : Object
    {
        public static Shader Find(string name) =>
            name == "Standard" || name == "Studio/Toon" ? new Shader { name = name } : null;
    }

    public class Material : Object
    {
        public Material(Shader shader)
        {
            name = shader.name;
        }
    }
}

namespace UnityEngine.Rendering
{
    public abstract class RenderPipelineAsset : ScriptableObject
    {
        public virtual Shader defaultShader => null;
    }

    public sealed class GraphicsSettings : Object
    {
        public static RenderPipelineAsset currentRenderPipeline => null;
    }
}
