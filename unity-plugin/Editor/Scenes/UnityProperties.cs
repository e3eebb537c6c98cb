#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>A component's SerializedObject: what is applied is a step of Undo and marks the scene as changed. Main thread only.</summary>
    internal sealed class UnityProperties : IPropertyEditing
    {
        private const string Script = "m_Script";

        /// <summary>Unity hides it, and everybody wants it.</summary>
        private const string Enabled = "m_Enabled";

        private readonly SerializedObject serialized;

        public UnityProperties(Component component)
        {
            serialized = new SerializedObject(component);
        }

        public IReadOnlyList<string> Names(string path)
        {
            var names = new List<string>();
            var property = path.Length == 0 ? serialized.GetIterator() : serialized.FindProperty(path);
            if (property == null) return names;
            var end = path.Length == 0 ? null : property.GetEndProperty();
            for (var more = property.NextVisible(true); more; more = property.NextVisible(false))
            {
                if (end != null && SerializedProperty.EqualContents(property, end)) break;
                if (property.name != Script) names.Add(property.name);
            }
            if (path.Length == 0 && !names.Contains(Enabled) && serialized.FindProperty(Enabled) != null) names.Insert(0, Enabled);
            return names;
        }

        public SerializedValue? Find(string path)
        {
            var property = serialized.FindProperty(path);
            return property == null ? null : SerializedValues.Read(property);
        }

        public void Set(string path, object? value) => SerializedValues.Write(serialized.FindProperty(path), value);

        public void Resize(string path, int size) => serialized.FindProperty(path).arraySize = size;

        public void Apply()
        {
            serialized.ApplyModifiedProperties();
            serialized.Update();
        }

        public void Dispose() => serialized.Dispose();
    }
}
