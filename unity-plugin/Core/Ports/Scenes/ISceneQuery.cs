#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>A readable property of a component, its value as text.</summary>
    public sealed class ComponentProperty
    {
        public ComponentProperty(string name, string type, string value)
        {
            Name = name;
            Type = type;
            Value = value;
        }

        public string Name { get; }

        public string Type { get; }

        public string Value { get; }
    }

    /// <summary>One component of an object with its properties.</summary>
    public sealed class ComponentDetails
    {
        public ComponentDetails(string type, string fullTypeName, IReadOnlyList<ComponentProperty> properties)
        {
            Type = type;
            FullTypeName = fullTypeName;
            Properties = properties;
        }

        public string Type { get; }

        public string FullTypeName { get; }

        public IReadOnlyList<ComponentProperty> Properties { get; }
    }

    /// <summary>
    /// One object of an open scene. What is below it and on it is read when it is asked for: a scene may have a million
    /// objects, and a walk needs each only for a moment. Main thread only.
    /// </summary>
    public sealed class SceneObject
    {
        private readonly Func<string> id;

        public SceneObject(
            Func<string> id,
            string name,
            string path,
            string scene,
            bool active,
            string tag,
            int layer,
            IEnumerable<string> components,
            IEnumerable<SceneObject> children,
            object? handle = null)
        {
            this.id = id;
            Name = name;
            Path = path;
            Scene = scene;
            Active = active;
            Tag = tag;
            Layer = layer;
            Components = components;
            Children = children;
            Handle = handle;
        }

        /// <summary>
        /// Unique among the objects that are open now, whatever their names. Made when it is asked for: Unity takes its time.
        /// </summary>
        public string Id => id();

        public string Name { get; }

        /// <summary>Names from the root, separated by slashes.</summary>
        public string Path { get; }

        public string Scene { get; }

        /// <summary>False when it or one of its parents is off.</summary>
        public bool Active { get; }

        public string Tag { get; }

        public int Layer { get; }

        /// <summary>Type names of its components.</summary>
        public IEnumerable<string> Components { get; }

        public IEnumerable<SceneObject> Children { get; }

        /// <summary>
        /// Unity's own object: paths are not unique, and the type of its ids differs between Editors (int, then EntityId).
        /// </summary>
        public object? Handle { get; }
    }

    /// <summary>Reads the open scenes. Main thread only.</summary>
    public interface ISceneQuery
    {
        /// <summary>
        /// The root objects of every loaded scene, of what outlives scenes in play mode, and of the prefab that is open in
        /// Prefab Mode, with their children.
        /// </summary>
        IReadOnlyList<SceneObject> Roots();

        /// <summary>The object of an <see cref="SceneObject.Id"/>; null when it is not open now.</summary>
        SceneObject? Find(string id);

        /// <summary>Paths of the selected objects.</summary>
        IReadOnlyList<string> Selection();

        /// <summary>
        /// The components of an object that <see cref="Roots"/> returned; empty when it is gone by now.
        /// </summary>
        /// <param name="inherited">Whether to include properties that base classes declare.</param>
        IReadOnlyList<ComponentDetails> Components(SceneObject target, bool inherited);
    }
}
