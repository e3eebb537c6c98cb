#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>A scene of the Hierarchy.</summary>
    public sealed class OpenScene
    {
        public string Name { get; init; } = "";

        /// <summary>From the project's folder; empty for a scene that was never saved.</summary>
        public string Path { get; init; } = "";

        public bool IsLoaded { get; init; }

        /// <summary>It has changes that are not saved.</summary>
        public bool IsDirty { get; init; }

        /// <summary>New objects go there.</summary>
        public bool IsActive { get; init; }
    }

    /// <summary>An object or asset that is selected.</summary>
    public sealed class SelectedObject
    {
        public string Name { get; init; } = "";

        public string Type { get; init; } = "";

        /// <summary>From the root of its scene; null for an asset.</summary>
        public string? Path { get; init; }

        /// <summary>From the project's folder; null for an object of a scene.</summary>
        public string? AssetPath { get; init; }
    }

    /// <summary>What a person sees at a glance in the Editor. Main thread only.</summary>
    public interface IEditorState
    {
        IReadOnlyList<OpenScene> Scenes();

        /// <summary>Path of the prefab that is open for editing; null when none is.</summary>
        string? OpenPrefab { get; }

        IReadOnlyList<SelectedObject> Selected();

        IReadOnlyList<string> Tags();

        /// <summary>Names by number; empty for those that have none.</summary>
        IReadOnlyList<string> Layers();
    }
}
