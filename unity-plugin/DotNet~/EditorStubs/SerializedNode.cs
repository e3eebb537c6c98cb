#nullable disable
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using UnityEngine;
using Object = UnityEngine.Object;

namespace JobBroker.EditorStubs
{
    /// <summary>A value of an object with what is below it, apart from the object until it is applied.</summary>
    internal sealed class SerializedNode
    {
        public SerializedNode(string name, Type type, object value, SerializedNode parent)
        {
            Name = name;
            Type = type;
            Parent = parent;
            Value = value;
            if (IsList) Children.AddRange(((IEnumerable)value ?? Array.Empty<object>()).Cast<object>().Select(Element));
            else if (IsGroup) Children.AddRange(Object.Fields(type).Select(field => Field(field, value ?? Activator.CreateInstance(type))));
        }

        public string Name { get; }

        public Type Type { get; }

        public SerializedNode Parent { get; }

        public object Value { get; set; }

        public List<SerializedNode> Children { get; } = new List<SerializedNode>();

        public bool IsHidden { get; private set; }

        public bool IsList => Type.IsArray;

        public string Path => Parent?.Parent == null ? Name
            : Parent.IsList ? $"{Parent.Path}.Array.data[{Parent.Children.IndexOf(this)}]"
            : $"{Parent.Path}.{Name}";

        private bool IsGroup => Type.IsClass && Type != typeof(string) && !typeof(Object).IsAssignableFrom(Type) && !IsList;

        public static SerializedNode Of(Object target)
        {
            var root = new SerializedNode("", typeof(object), null, null);
            if (target is MonoBehaviour) root.Children.Add(new SerializedNode("m_Script", typeof(Object), null, root));
            if (target is Behaviour on) root.Children.Add(new SerializedNode("m_Enabled", typeof(bool), on.m_Enabled, root) { IsHidden = true });
            root.Children.AddRange(Object.Fields(target.GetType()).Select(field => root.Field(field, target)));
            return root;
        }

        public void Resize(int size)
        {
            while (Children.Count > size) Children.RemoveAt(Children.Count - 1);
            while (Children.Count < size) Children.Add(Element(Children.LastOrDefault()?.Built()));
        }

        public void WriteTo(object target)
        {
            foreach (var child in Children.Where(child => child.Name != "m_Script"))
            {
                if (child.Name == "m_Enabled") ((Behaviour)target).m_Enabled = (bool)child.Value;
                else Object.Fields(target.GetType()).First(field => field.Name == child.Name).SetValue(target, child.Built());
            }
        }

        private object Built()
        {
            if (IsList)
            {
                var list = Array.CreateInstance(Type.GetElementType(), Children.Count);
                for (var index = 0; index < Children.Count; index++) list.SetValue(Children[index].Built(), index);
                return list;
            }
            if (!IsGroup) return Value;
            var built = Activator.CreateInstance(Type);
            WriteTo(built);
            return built;
        }

        private SerializedNode Element(object value)
        {
            var type = Type.GetElementType();
            return new SerializedNode("data", type, value ?? (type.IsValueType ? Activator.CreateInstance(type) : null), this);
        }

        private SerializedNode Field(FieldInfo field, object owner) =>
            new SerializedNode(field.Name, field.FieldType, field.GetValue(owner), this);
    }
}
