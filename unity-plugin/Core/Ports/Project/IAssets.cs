#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>An asset or a folder of the project.</summary>
    public sealed class AssetEntry
    {
        public AssetEntry(string path, string guid, string type, bool isFolder)
        {
            Path = path;
            Guid = guid;
            Type = type;
            IsFolder = isFolder;
        }

        /// <summary>From the project's folder, for example Assets/Art/Rock.mat.</summary>
        public string Path { get; }

        public string Guid { get; }

        /// <summary>Name of its main asset's type, for example Material.</summary>
        public string Type { get; }

        public bool IsFolder { get; }
    }

    /// <summary>
    /// The project's assets. Main thread only. What changes something answers null when it is done, else Unity's reason; none
    /// of it can be undone.
    /// </summary>
    public interface IAssets
    {
        /// <summary>Paths of what fits Unity's search text, each once.</summary>
        /// <param name="folders">Where to look; these exist.</param>
        IReadOnlyList<string> Find(string filter, IReadOnlyList<string> folders);

        /// <summary>The asset at a path; null where Unity knows none.</summary>
        AssetEntry? Get(string path);

        /// <summary>Whether a file or a folder is there, imported or not.</summary>
        bool IsOnDisk(string path);

        /// <summary>The first part of a path that is a link on the disk; null when none is.</summary>
        string? LinkIn(string path);

        /// <summary>The importer's settings of an asset, as text; empty where it has none.</summary>
        IReadOnlyList<ComponentProperty> ImportSettings(string path);

        /// <summary>Imports what changed on the disk. Scripts among it are compiled afterwards.</summary>
        void Refresh();

        void Reimport(string path);

        string? Move(string from, string to);

        string? Copy(string from, string to);

        string? MoveToTrash(string path);

        string? CreateFolder(string parent, string name);

        /// <param name="shader">Its name; empty for the default of the project's render pipeline.</param>
        string? CreateMaterial(string path, string shader);

        /// <summary>Saves an object of an open scene as a prefab, in the place of what is at the path; the object stays as it is.</summary>
        string? CreatePrefab(SceneObject source, string path);
    }
}
