#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Unity's serialized properties as the values of the port, and back. Main thread only.</summary>
    internal static class SerializedValues
    {
        public static SerializedValue Read(SerializedProperty one)
        {
            var kind = KindOf(one);
            var value = ValueOf(one, kind);
            var size = kind == PropertyKind.List ? one.arraySize : (value as double[])?.Length ?? 0;
            var words = kind == PropertyKind.Choice ? one.enumNames : null;
            return new SerializedValue(one.propertyPath, one.type, kind, value, size, words);
        }

        public static void Write(SerializedProperty one, object? value)
        {
            switch (KindOf(one))
            {
                case PropertyKind.Integer:
                    one.longValue = (long)value!;
                    return;
                case PropertyKind.Number:
                    one.doubleValue = (double)value!;
                    return;
                case PropertyKind.Flag:
                    one.boolValue = (bool)value!;
                    return;
                case PropertyKind.Text:
                    one.stringValue = (string)value!;
                    return;
                case PropertyKind.Choice:
                    if (value is string word) one.enumValueIndex = Array.IndexOf(one.enumNames, word);
                    else one.intValue = (int)(long)value!;
                    return;
                case PropertyKind.Reference:
                    SerializedReferences.Write(one, (ObjectReference?)value);
                    return;
                default:
                    WriteNumbers(one, ((double[])value!).Select(number => (float)number).ToArray());
                    return;
            }
        }

        private static PropertyKind KindOf(SerializedProperty one)
        {
            switch (one.propertyType)
            {
                case SerializedPropertyType.Integer:
                case SerializedPropertyType.LayerMask:
                case SerializedPropertyType.ArraySize:
                case SerializedPropertyType.Character:
                    return PropertyKind.Integer;
                case SerializedPropertyType.Boolean:
                    return PropertyKind.Flag;
                case SerializedPropertyType.Float:
                    return PropertyKind.Number;
                case SerializedPropertyType.String:
                    return PropertyKind.Text;
                case SerializedPropertyType.Enum:
                    return PropertyKind.Choice;
                case SerializedPropertyType.ObjectReference:
                    return PropertyKind.Reference;
                case SerializedPropertyType.Color:
                    return PropertyKind.Color;
                case SerializedPropertyType.Vector2:
                case SerializedPropertyType.Vector3:
                case SerializedPropertyType.Vector4:
                case SerializedPropertyType.Quaternion:
                case SerializedPropertyType.Rect:
                case SerializedPropertyType.Bounds:
                case SerializedPropertyType.Vector2Int:
                case SerializedPropertyType.Vector3Int:
                    return PropertyKind.Vector;
                case SerializedPropertyType.ManagedReference:
                    return PropertyKind.Group;
                case SerializedPropertyType.Generic:
                    return one.isArray ? PropertyKind.List : PropertyKind.Group;
                default:
                    return PropertyKind.Other;
            }
        }

        private static object? ValueOf(SerializedProperty one, PropertyKind kind)
        {
            switch (kind)
            {
                case PropertyKind.Integer:
                    return one.longValue;
                case PropertyKind.Number:
                    return one.doubleValue;
                case PropertyKind.Flag:
                    return one.boolValue;
                case PropertyKind.Text:
                    return one.stringValue;
                case PropertyKind.Choice:
                    // Flags that are several have no index.
                    var words = one.enumNames;
                    var index = one.enumValueIndex;
                    return index >= 0 && index < words.Length ? words[index] : (object)(long)one.intValue;
                case PropertyKind.Reference:
                    return SerializedReferences.Read(one.objectReferenceValue);
                case PropertyKind.Vector:
                case PropertyKind.Color:
                    return Numbers(one).Select(number => (double)number).ToArray();
                default:
                    return null;
            }
        }

        private static float[] Numbers(SerializedProperty one)
        {
            switch (one.propertyType)
            {
                case SerializedPropertyType.Vector2:
                    var two = one.vector2Value;
                    return new[] { two.x, two.y };
                case SerializedPropertyType.Vector3:
                    return Of(one.vector3Value);
                case SerializedPropertyType.Vector4:
                    var four = one.vector4Value;
                    return new[] { four.x, four.y, four.z, four.w };
                case SerializedPropertyType.Quaternion:
                    var turn = one.quaternionValue;
                    return new[] { turn.x, turn.y, turn.z, turn.w };
                case SerializedPropertyType.Rect:
                    var rect = one.rectValue;
                    return new[] { rect.x, rect.y, rect.width, rect.height };
                case SerializedPropertyType.Bounds:
                    return Of(one.boundsValue.center).Concat(Of(one.boundsValue.size)).ToArray();
                case SerializedPropertyType.Vector2Int:
                    var pair = one.vector2IntValue;
                    return new float[] { pair.x, pair.y };
                case SerializedPropertyType.Vector3Int:
                    var cell = one.vector3IntValue;
                    return new float[] { cell.x, cell.y, cell.z };
                default:
                    var color = one.colorValue;
                    return new[] { color.r, color.g, color.b, color.a };
            }
        }

        private static void WriteNumbers(SerializedProperty one, float[] to)
        {
            switch (one.propertyType)
            {
                case SerializedPropertyType.Vector2:
                    one.vector2Value = new Vector2(to[0], to[1]);
                    return;
                case SerializedPropertyType.Vector3:
                    one.vector3Value = new Vector3(to[0], to[1], to[2]);
                    return;
                case SerializedPropertyType.Vector4:
                    one.vector4Value = new Vector4(to[0], to[1], to[2], to[3]);
                    return;
                case SerializedPropertyType.Quaternion:
                    one.quaternionValue = new Quaternion(to[0], to[1], to[2], to[3]);
                    return;
                case SerializedPropertyType.Rect:
                    one.rectValue = new Rect(to[0], to[1], to[2], to[3]);
                    return;
                case SerializedPropertyType.Bounds:
                    one.boundsValue = new Bounds(new Vector3(to[0], to[1], to[2]), new Vector3(to[3], to[4], to[5]));
                    return;
                case SerializedPropertyType.Vector2Int:
                    one.vector2IntValue = new Vector2Int((int)to[0], (int)to[1]);
                    return;
                case SerializedPropertyType.Vector3Int:
                    one.vector3IntValue = new Vector3Int((int)to[0], (int)to[1], (int)to[2]);
                    return;
                default:
                    one.colorValue = new Color(to[0], to[1], to[2], to[3]);
                    return;
            }
        }

        private static float[] Of(Vector3 one) => new[] { one.x, one.y, one.z };
    }
}
