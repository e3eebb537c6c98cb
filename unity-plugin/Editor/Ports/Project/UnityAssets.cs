#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEngine;
using UnityEngine.Rendering;

namespace JobBroker.Bridge.Unity
{
    /// <summary>The AssetDatabase. Main thread only.</summary>
    internal sealed class UnityAssets : IAssets
    {
        private const string SeeConsole = "the Console (get-logs) says why";

        public IReadOnlyList<string> Find(string filter, IReadOnlyList<string> folders) => AssetDatabase
            .FindAssets(filter, folders.ToArray())
            .Select(guid => AssetDatabase.GUIDToAssetPath(guid))
            .Distinct()
            .ToList();

        public AssetEntry? Get(string path)
        {
            // Unity remembers what was deleted a moment ago, too.
            var guid = AssetDatabase.AssetPathToGUID(path, AssetPathToGUIDOptions.OnlyExistingAssets);
            if (string.IsNullOrEmpty(guid)) return null;
            var type = AssetDatabase.GetMainAssetTypeAtPath(path);
            return new AssetEntry(path, guid, type == null ? "Unknown" : type.Name, AssetDatabase.IsValidFolder(path));
        }

        private static string ProjectPath => Path.GetDirectoryName(Application.dataPath)!;

        public string? LinkIn(string path) => DiskLinks.FirstIn(ProjectPath, path);

        public bool IsOnDisk(string path)
        {
            var file = Path.Combine(ProjectPath, path);
            return File.Exists(file) || Directory.Exists(file);
        }

        public IReadOnlyList<ComponentProperty> ImportSettings(string path)
        {
            var importer = AssetImporter.GetAtPath(path);
            return importer == null ? Array.Empty<ComponentProperty>() : ComponentReader.Values(importer, name => true);
        }

        public void Refresh() => AssetDatabase.Refresh();

        public void Reimport(string path) =>
            AssetDatabase.ImportAsset(path, ImportAssetOptions.ForceUpdate | ImportAssetOptions.ImportRecursive);

        public string? Move(string from, string to)
        {
            var reason = AssetDatabase.MoveAsset(from, to);
            return string.IsNullOrEmpty(reason) ? null : reason;
        }

        public string? Copy(string from, string to) => AssetDatabase.CopyAsset(from, to) ? null : SeeConsole;

        public string? MoveToTrash(string path) => AssetDatabase.MoveAssetToTrash(path) ? null : SeeConsole;

        public string? CreateFolder(string parent, string name) =>
            string.IsNullOrEmpty(AssetDatabase.CreateFolder(parent, name)) ? SeeConsole : null;

        public string? CreateMaterial(string path, string shader)
        {
            var found = shader.Length > 0 ? Shader.Find(shader) : DefaultShader();
            if (found == null) return shader.Length > 0 ? $"there is no shader {shader}" : "there is no default shader; name one";
            try
            {
                AssetDatabase.CreateAsset(new Material(found), path);
                return null;
            }
            catch (UnityException error)
            {
                return error.Message;
            }
        }

        public string? CreatePrefab(SceneObject source, string path)
        {
            var found = source.Handle as GameObject;
            if (found == null) return "the object is gone";
            try
            {
                PrefabUtility.SaveAsPrefabAsset(found, path, out var success);
                return success ? null : SeeConsole;
            }
            catch (ArgumentException error)
            {
                // Part of another prefab's instance, for one.
                return error.Message;
            }
        }

        private static Shader? DefaultShader()
        {
            var pipeline = GraphicsSettings.currentRenderPipeline;
            var shader = pipeline == null ? null : pipeline.defaultShader;
            return shader == null ? Shader.Find("Standard") : shader;
        }
    }
}
