#nullable disable
using System.Collections.Generic;
using System.IO;
using UnityEngine;

namespace JobBroker.EditorStubs
{
    /// <summary>A scene of the stubs' Editor. For tests; not Unity's API.</summary>
    public sealed class StubScene
    {
        public StubScene(string path, bool isPreview = false)
        {
            Path = path;
            Name = System.IO.Path.GetFileNameWithoutExtension(path);
            IsPreview = isPreview;
        }

        public string Name { get; set; }

        /// <summary>Empty while it was never saved.</summary>
        public string Path { get; set; }

        public bool IsDirty { get; set; }

        public bool IsPreview { get; }

        public List<GameObject> Roots { get; } = new List<GameObject>();
    }
}
