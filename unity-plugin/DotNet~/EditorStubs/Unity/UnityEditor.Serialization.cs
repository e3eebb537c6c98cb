#nullable disable
using System;
using System.Linq;
using JobBroker.EditorStubs;
using UnityEngine;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    public enum SerializedPropertyType
    {
        Generic = -1,
        Integer = 0,
        Boolean = 1,
        Float = 2,
        String = 3,
        Color = 4,
        ObjectReference = 5,
        LayerMask = 6,
        Enum = 7,
        Vector2 = 8,
        Vector3 = 9,
        Vector4 = 10,
        Rect = 11,
        ArraySize = 12,
        Character = 13,
        AnimationCurve = 14,
        Bounds = 15,
        Quaternion = 17,
        Vector2Int = 20,
        Vector3Int = 21,
        ManagedReference = 24,
    }

    public class SerializedObject : IDisposable
    {
        private readonly Object target;

        public SerializedObject(Object obj)
        {
            target = obj;
            Root = SerializedNode.Of(obj);
        }

        internal SerializedNode Root { get; private set; }

        public SerializedProperty GetIterator() => new SerializedProperty(Root);

        public SerializedProperty FindProperty(string propertyPath)
        {
            var at = Root;
            foreach (var part in propertyPath.Replace(".Array.data[", ".[").Split('.'))
            {
                at = part.StartsWith("[", StringComparison.Ordinal)
                    ? at?.Children.ElementAtOrDefault(int.Parse(part.Trim('[', ']')))
                    : at?.Children.FirstOrDefault(child => child.Name == part);
            }
            return at == null ? null : new SerializedProperty(at);
        }

        public bool ApplyModifiedProperties()
        {
            var before = SerializedNode.Of(target);
            Undo.Keep(target, () => before.WriteTo(target));
            Root.WriteTo(target);
            return true;
        }

        public void Update() => Root = SerializedNode.Of(target);

        public void Dispose()
        {
        }
    }

    /// <summary>Here every field of the object is a serialized one, its script first.</summary>
    public class SerializedProperty
    {
        private SerializedNode at;

        internal SerializedProperty(SerializedNode at)
        {
            this.at = at;
        }

        public string name => at.Name;

        public string propertyPath => at.Path;

        public string type => at.Type == typeof(int) ? "int"
            : at.Type == typeof(float) ? "float"
            : typeof(MonoBehaviour).IsAssignableFrom(at.Type) ? $"PPtr<${at.Type.Name}>"
            : typeof(Object).IsAssignableFrom(at.Type) ? $"PPtr<{at.Type.Name}>"
            : at.Type.Name;

        public SerializedPropertyType propertyType => KindOf(at.Type);

        public long longValue
        {
            get => Convert.ToInt64(at.Value);
            set => at.Value = Convert.ChangeType(value, at.Type);
        }

        public int intValue
        {
            get => Convert.ToInt32(at.Value);
            set => at.Value = at.Type.IsEnum ? Enum.ToObject(at.Type, value) : value;
        }

        public bool boolValue
        {
            get => (bool)at.Value;
            set => at.Value = value;
        }

        public double doubleValue
        {
            get => Convert.ToDouble(at.Value);
            set => at.Value = Convert.ChangeType(value, at.Type);
        }

        public string stringValue
        {
            get => (string)at.Value ?? "";
            set => at.Value = value;
        }

        public string[] enumNames => Enum.GetNames(at.Type);

        public int enumValueIndex
        {
            get => Array.IndexOf(Enum.GetValues(at.Type), at.Value);
            set => at.Value = Enum.GetValues(at.Type).GetValue(value);
        }

        /// <summary>What has another type is null.</summary>
        public Object objectReferenceValue
        {
            get => (Object)at.Value;
            set => at.Value = at.Type.IsInstanceOfType(value) ? value : null;
        }

        public Vector2 vector2Value
        {
            get => (Vector2)at.Value;
            set => at.Value = value;
        }

        public Vector3 vector3Value
        {
            get => (Vector3)at.Value;
            set => at.Value = value;
        }

        public Vector4 vector4Value
        {
            get => (Vector4)at.Value;
            set => at.Value = value;
        }

        public Quaternion quaternionValue
        {
            get => (Quaternion)at.Value;
            set => at.Value = value;
        }

        public Color colorValue
        {
            get => (Color)at.Value;
            set => at.Value = value;
        }

        public Rect rectValue
        {
            get => (Rect)at.Value;
            set => at.Value = value;
        }

        public Bounds boundsValue
        {
            get => (Bounds)at.Value;
            set => at.Value = value;
        }

        public Vector2Int vector2IntValue
        {
            get => (Vector2Int)at.Value;
            set => at.Value = value;
        }

        public Vector3Int vector3IntValue
        {
            get => (Vector3Int)at.Value;
            set => at.Value = value;
        }

        public bool isArray => at.IsList;

        public int arraySize
        {
            get => at.Children.Count;
            set => at.Resize(value);
        }

        public static bool EqualContents(SerializedProperty x, SerializedProperty y) => x.at == y.at;

        public SerializedProperty GetEndProperty() => new SerializedProperty(Behind(at));

        public bool NextVisible(bool enterChildren)
        {
            var next = enterChildren && at.Children.Count > 0 ? at.Children[0] : Behind(at);
            while (next != null && next.IsHidden) next = Behind(next);
            at = next ?? at;
            return next != null;
        }

        private static SerializedNode Behind(SerializedNode one)
        {
            for (; one?.Parent != null; one = one.Parent)
            {
                var next = one.Parent.Children.IndexOf(one) + 1;
                if (next < one.Parent.Children.Count) return one.Parent.Children[next];
            }
            return null;
        }

        private static SerializedPropertyType KindOf(Type type)
        {
            if (type == typeof(int) || type == typeof(long)) return SerializedPropertyType.Integer;
            if (type == typeof(bool)) return SerializedPropertyType.Boolean;
            if (type == typeof(float) || type == typeof(double)) return SerializedPropertyType.Float;
            if (type.IsEnum) return SerializedPropertyType.Enum;
            if (typeof(Object).IsAssignableFrom(type)) return SerializedPropertyType.ObjectReference;
            return Enum.TryParse<SerializedPropertyType>(type.Name, out var named) ? named : SerializedPropertyType.Generic;
        }
    }
}
