#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>One object of an open scene.</summary>
    public sealed class SceneObject
    {
        public SceneObject(string name, string path, string scene, bool active, string tag, int layer, IReadOnlyList<string> components, IReadOnlyList<SceneObject> children)
        {
            Name = name;
            Path = path;
            Scene = scene;
            Active = active;
            Tag = tag;
            Layer = layer;
            Components = components;
            Children = children;
        }

        public string Name { get; }

        /// <summary>Names from the root, separated by slashes.</summary>
        public string Path { get; }

        public string Scene { get; }

        public bool Active { get; }

        public string Tag { get; }

        public int Layer { get; }

        /// <summary>Type names of its components.</summary>
        public IReadOnlyList<string> Components { get; }

        public IReadOnlyList<SceneObject> Children { get; }
    }

    /// <summary>Reads the open scenes. Main thread only.</summary>
    public interface ISceneQuery
    {
        /// <summary>The root objects of every loaded scene, with their children.</summary>
        IReadOnlyList<SceneObject> Roots();

        /// <summary>Paths of the selected objects.</summary>
        IReadOnlyList<string> Selection();
    }
}
