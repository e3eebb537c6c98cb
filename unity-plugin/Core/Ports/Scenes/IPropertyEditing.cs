#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>What a serialized property holds, and which type its value has.</summary>
    public enum PropertyKind
    {
        /// <summary>Has properties below it and no value.</summary>
        Group,

        /// <summary>Has elements below it and no value.</summary>
        List,

        /// <summary>long</summary>
        Integer,

        /// <summary>double</summary>
        Number,

        /// <summary>bool</summary>
        Flag,

        /// <summary>string</summary>
        Text,

        /// <summary>string: one of its words, or a long that no word stands for</summary>
        Choice,

        /// <summary>double[] of <see cref="SerializedValue.Size"/></summary>
        Vector,

        /// <summary>double[] of 4: red, green, blue, alpha</summary>
        Color,

        /// <summary><see cref="ObjectReference"/>, or null</summary>
        Reference,

        /// <summary>Something that only the Editor's window edits, as curves.</summary>
        Other,
    }

    /// <summary>An object that a property refers to.</summary>
    public sealed class ObjectReference
    {
        /// <param name="inScene">An object of an open scene, on which the referred component may be.</param>
        /// <param name="asset">Path of an asset.</param>
        public ObjectReference(SceneObject? inScene, string? asset, string type = "")
        {
            InScene = inScene;
            Asset = asset;
            Type = type;
        }

        public SceneObject? InScene { get; }

        public string? Asset { get; }

        /// <summary>Type name of what is referred to; not read when it is written.</summary>
        public string Type { get; }
    }

    /// <summary>A serialized property as it is.</summary>
    public sealed class SerializedValue
    {
        public SerializedValue(string path, string type, PropertyKind kind, object? value, int size = 0, IReadOnlyList<string>? words = null)
        {
            Path = path;
            Type = type;
            Kind = kind;
            Value = value;
            Size = size;
            Words = words ?? Array.Empty<string>();
        }

        public string Path { get; }

        /// <summary>Unity's word for its type.</summary>
        public string Type { get; }

        public PropertyKind Kind { get; }

        public object? Value { get; }

        /// <summary>How many numbers a vector has, or elements a list.</summary>
        public int Size { get; }

        /// <summary>Those of a choice.</summary>
        public IReadOnlyList<string> Words { get; }
    }

    /// <summary>
    /// The serialized properties of one component, as Unity's SerializedObject has them; what was set counts when it is
    /// applied. Paths are Unity's: <c>m_Size</c>, <c>stats.health</c>, <c>points.Array.data[0]</c>. Main thread only.
    /// </summary>
    public interface IPropertyEditing : IDisposable
    {
        /// <summary>Names of the visible properties below a path; empty for those of the component.</summary>
        IReadOnlyList<string> Names(string path);

        /// <summary>Null when there is none of that path.</summary>
        SerializedValue? Find(string path);

        /// <param name="value">Of the type that the property's kind says.</param>
        void Set(string path, object? value);

        void Resize(string path, int size);

        void Apply();
    }
}
