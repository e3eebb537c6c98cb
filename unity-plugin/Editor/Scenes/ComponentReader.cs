#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEngine;
using Object = UnityEngine.Object;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// A component's serialized values as text. Getters are not called: a tool that only reads must not run a project's
    /// code, nor make Unity create copies (Renderer.material does). Main thread only.
    /// </summary>
    internal static class ComponentReader
    {
        private const string ScriptField = "m_Script";

        public static ComponentDetails Read(Component component, bool inherited)
        {
            var type = component.GetType();
            var values = Values(component, name => inherited || !(component is MonoBehaviour) || Declares(type, name));
            return new ComponentDetails(type.Name, type.FullName ?? type.Name, values);
        }

        /// <summary>What the Inspector shows of an object, without its script.</summary>
        /// <param name="counts">Whether a property of that name is wanted.</param>
        public static IReadOnlyList<ComponentProperty> Values(Object target, Func<string, bool> counts)
        {
            var values = new List<ComponentProperty>();
            using (var serialized = new SerializedObject(target))
            {
                var property = serialized.GetIterator();
                for (var more = property.NextVisible(true); more; more = property.NextVisible(false))
                {
                    if (property.name == ScriptField || !counts(property.name)) continue;
                    values.Add(new ComponentProperty(property.name, property.type, Text(property)));
                }
            }
            return values;
        }

        private static bool Declares(System.Type type, string field)
        {
            const BindingFlags own =
                BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
            return type.GetField(field, own) != null;
        }

        private static string Text(SerializedProperty property)
        {
            switch (property.propertyType)
            {
                case SerializedPropertyType.Integer:
                case SerializedPropertyType.LayerMask:
                    return property.longValue.ToString(CultureInfo.InvariantCulture);
                case SerializedPropertyType.Boolean:
                    return property.boolValue ? "true" : "false";
                case SerializedPropertyType.Float:
                    return property.doubleValue.ToString("R", CultureInfo.InvariantCulture);
                case SerializedPropertyType.String:
                    return property.stringValue;
                case SerializedPropertyType.Enum:
                    return EnumText(property);
                case SerializedPropertyType.ObjectReference:
                    return property.objectReferenceValue == null ? "none" : property.objectReferenceValue.name;
                case SerializedPropertyType.Vector2:
                    return property.vector2Value.ToString();
                case SerializedPropertyType.Vector3:
                    return property.vector3Value.ToString();
                case SerializedPropertyType.Vector4:
                    return property.vector4Value.ToString();
                case SerializedPropertyType.Quaternion:
                    return property.quaternionValue.ToString();
                case SerializedPropertyType.Color:
                    return property.colorValue.ToString();
                default:
                    return property.isArray ? property.arraySize + " elements" : property.type;
            }
        }

        private static string EnumText(SerializedProperty property)
        {
            var names = property.enumNames;
            var index = property.enumValueIndex;
            return index >= 0 && index < names.Length ? names[index] : property.intValue.ToString(CultureInfo.InvariantCulture);
        }
    }
}
