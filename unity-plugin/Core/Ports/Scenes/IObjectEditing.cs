#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>What a new object is to be; with neither primitive nor prefab it is empty.</summary>
    public sealed class NewObject
    {
        public NewObject(string name, SceneObject? parent, string? primitive, string? prefab)
        {
            Name = name;
            Parent = parent;
            Primitive = primitive;
            Prefab = prefab;
        }

        /// <summary>Empty: as Unity names it.</summary>
        public string Name { get; }

        public SceneObject? Parent { get; }

        /// <summary>One of Cube, Sphere, Capsule, Cylinder, Plane, Quad.</summary>
        public string? Primitive { get; }

        /// <summary>Path of the prefab of which it becomes an instance.</summary>
        public string? Prefab { get; }
    }

    /// <summary>What to change of an object; null leaves as it is.</summary>
    public sealed class ObjectChange
    {
        public string? Name { get; set; }

        public bool? Active { get; set; }

        public string? Tag { get; set; }

        public int? Layer { get; set; }

        /// <summary>Whether <see cref="Position"/> and <see cref="Rotation"/> are the world's or the parent's.</summary>
        public bool IsWorld { get; set; }

        public double[]? Position { get; set; }

        /// <summary>Degrees around x, y and z.</summary>
        public double[]? Rotation { get; set; }

        /// <summary>The parent's, always.</summary>
        public double[]? Scale { get; set; }
    }

    /// <summary>One step of the Editor's Undo. Ended without <see cref="Complete"/>, it takes back what was done.</summary>
    public interface IUndoStep : IDisposable
    {
        void Complete();
    }

    /// <summary>
    /// Changes the objects of the open scenes, or of the open prefab, so that it can be undone. What Unity refuses is a
    /// ToolException. Main thread only.
    /// </summary>
    public interface IObjectEditing
    {
        /// <summary>What is changed in play mode is lost when it ends.</summary>
        bool IsPlaying { get; }

        IReadOnlyList<string> Tags { get; }

        /// <summary>Names by number; empty where a layer has none.</summary>
        IReadOnlyList<string> Layers { get; }

        /// <summary>Everything that is changed until its end is one step of Undo; steps within a step join it.</summary>
        IUndoStep BeginUndo(string name);

        /// <summary>Whether there is a prefab at that path.</summary>
        bool IsPrefab(string path);

        /// <summary>Without a parent it comes into the active scene, in Prefab Mode under the prefab's root.</summary>
        SceneObject Create(NewObject wanted);

        SceneObject Change(SceneObject one, ObjectChange change);

        /// <param name="parent">Null: it becomes a root of its scene, in Prefab Mode a child of the prefab's root.</param>
        /// <param name="keepsWorld">Whether it stays where it is in the world, or relative to its parent.</param>
        SceneObject Move(SceneObject one, SceneObject? parent, bool keepsWorld);

        void Delete(SceneObject one);

        /// <summary>True for an object of the prefab that is open in Prefab Mode: play mode does not touch it.</summary>
        bool IsInPrefabMode(SceneObject one);

        /// <summary>True for the root of the open prefab, which Unity cannot do without.</summary>
        bool IsPrefabRoot(SceneObject one);

        /// <summary>The components on an object, in Unity's order.</summary>
        IReadOnlyList<ObjectComponent> ComponentsOf(SceneObject one);

        /// <summary>Full names of the component types of that name, short or full; any case.</summary>
        IReadOnlyList<string> ComponentTypes(string name);

        /// <param name="fullTypeName">One of <see cref="ComponentTypes"/>.</param>
        ObjectComponent Add(SceneObject one, string fullTypeName);

        void Remove(ObjectComponent component);

        /// <summary>Reads and writes a component's serialized properties.</summary>
        IPropertyEditing Edit(ObjectComponent component);
    }

    /// <summary>A component on an object.</summary>
    public sealed class ObjectComponent
    {
        public ObjectComponent(string type, string fullTypeName, object? handle)
        {
            Type = type;
            FullTypeName = fullTypeName;
            Handle = handle;
        }

        /// <summary>"Missing script" when its script is gone.</summary>
        public string Type { get; }

        public string FullTypeName { get; }

        /// <summary>Unity's own object.</summary>
        public object? Handle { get; }
    }
}
