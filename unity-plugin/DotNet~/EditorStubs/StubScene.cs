#nullable disable
using System.Collections.Generic;
using UnityEngine;

namespace JobBroker.EditorStubs
{
    /// <summary>A scene of the stubs' Editor. For tests; not Unity's API.</summary>
    public sealed class StubScene
    {
        public StubScene(string name, string path, bool isPreview = false)
        {
            Name = name;
            Path = path;
            IsPreview = isPreview;
        }

        public string Name { get; set; }

        /// <summary>Empty while it was never saved.</summary>
        public string Path { get; set; }

        public bool IsDirty { get; set; }

        public bool IsPreview { get; }

        /// <summary>Fault: its file cannot be written.</summary>
        public bool CannotBeSaved { get; set; }

        public List<GameObject> Roots { get; } = new List<GameObject>();
    }
}
