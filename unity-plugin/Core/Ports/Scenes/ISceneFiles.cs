#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>A scene that is open, or the prefab that is open in Prefab Mode.</summary>
    public sealed class LoadedScene
    {
        public LoadedScene(string name, string path, bool isDirty, bool isActive, bool isPrefab = false, object? handle = null)
        {
            Name = name;
            Path = path;
            IsDirty = isDirty;
            IsActive = isActive;
            IsPrefab = isPrefab;
            Handle = handle;
        }

        public string Name { get; }

        /// <summary>Empty when it was never saved.</summary>
        public string Path { get; }

        /// <summary>True when it has changes that are not saved.</summary>
        public bool IsDirty { get; }

        /// <summary>True for the scene that new objects come into.</summary>
        public bool IsActive { get; }

        public bool IsPrefab { get; }

        /// <summary>Unity's own object.</summary>
        public object? Handle { get; }
    }

    /// <summary>Opens and saves scenes. None of it can be undone. Main thread only.</summary>
    public interface ISceneFiles
    {
        /// <summary>What is open, in the order of the Hierarchy window.</summary>
        IReadOnlyList<LoadedScene> Open();

        /// <summary>Paths of the scenes of the project and its packages.</summary>
        IReadOnlyList<string> Known();

        /// <summary>Opens a scene of the project; one that is not additive closes the others, saved or not.</summary>
        void Load(string path, bool additive);

        /// <summary>Makes an untitled scene; one that is not additive closes the others, saved or not.</summary>
        /// <param name="empty">False: it has a camera and a light.</param>
        LoadedScene Make(bool empty, bool additive);

        /// <summary>Writes it; false when Unity did not.</summary>
        bool Save(LoadedScene scene, string path);

        /// <summary>Forgets what was changed in the open prefab, so that Unity asks nobody when it is closed.</summary>
        void Forget(LoadedScene prefab);
    }
}
