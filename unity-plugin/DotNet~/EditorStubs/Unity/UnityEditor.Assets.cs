#nullable disable
using System;
using System.Collections.Generic;
using JobBroker.EditorStubs;
using UnityEngine;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    public struct GUID
    {
    }

    public struct GlobalObjectId
    {
        public GUID assetGUID => default;

        public static bool TryParse(string stringValue, out GlobalObjectId id)
        {
            id = default;
            return stringValue.StartsWith("GlobalObjectId_V1-", StringComparison.Ordinal);
        }
    }

    public partial class AssetDatabase
    {
        public static bool IsAssetImportWorkerProcess() => StubEditor.IsImportWorker;

        public static void Refresh() => StubEditor.Refreshes++;

        public static string GUIDToAssetPath(GUID guid) => "Assets/Found.mat";

        public static Type GetMainAssetTypeAtPath(string assetPath) => StubProject.TypeOf(assetPath);
    }

    public class AssetPostprocessor
    {
    }

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
        Quaternion = 17,
    }

    public class SerializedObject : IDisposable
    {
        private readonly Object target;

        public SerializedObject(Object obj)
        {
            target = obj;
        }

        public SerializedProperty GetIterator() => new SerializedProperty(target);

        public void Dispose()
        {
        }
    }

    /// <summary>Here every field of the object is a serialized one, its script first.</summary>
    public class SerializedProperty
    {
        private readonly List<System.Reflection.FieldInfo> fields = new List<System.Reflection.FieldInfo>();
        private readonly Object target;
        private int at = -2;

        internal SerializedProperty(Object target)
        {
            this.target = target;
            const System.Reflection.BindingFlags anyField = System.Reflection.BindingFlags.Instance
                | System.Reflection.BindingFlags.Public | System.Reflection.BindingFlags.DeclaredOnly;
            for (var type = target.GetType(); type != typeof(Component) && type != null; type = type.BaseType)
            {
                fields.AddRange(type.GetFields(anyField));
            }
        }

        public string name => at == -1 ? "m_Script" : fields[at].Name;

        public string type => fields[at].FieldType.Name;

        public SerializedPropertyType propertyType => KindOf(fields[at].FieldType);

        public long longValue => Convert.ToInt64(Value);

        public int intValue => Convert.ToInt32(Value);

        public bool boolValue => (bool)Value;

        public double doubleValue => Convert.ToDouble(Value);

        public string stringValue => (string)Value;

        public string[] enumNames => Enum.GetNames(fields[at].FieldType);

        public int enumValueIndex => Array.IndexOf(Enum.GetValues(fields[at].FieldType), Value);

        public Object objectReferenceValue => (Object)Value;

        public Vector2 vector2Value => (Vector2)Value;

        public Vector3 vector3Value => (Vector3)Value;

        public Vector4 vector4Value => (Vector4)Value;

        public Quaternion quaternionValue => (Quaternion)Value;

        public Color colorValue => (Color)Value;

        public bool isArray => Value is Array;

        public int arraySize => ((Array)Value).Length;

        private object Value => fields[at].GetValue(target);

        public bool NextVisible(bool enterChildren) => ++at < fields.Count;

        private static SerializedPropertyType KindOf(Type type)
        {
            if (type == typeof(int) || type == typeof(long)) return SerializedPropertyType.Integer;
            if (type == typeof(bool)) return SerializedPropertyType.Boolean;
            if (type == typeof(float) || type == typeof(double)) return SerializedPropertyType.Float;
            if (type == typeof(string)) return SerializedPropertyType.String;
            if (type.IsEnum) return SerializedPropertyType.Enum;
            if (typeof(Object).IsAssignableFrom(type)) return SerializedPropertyType.ObjectReference;
            return type == typeof(Vector3) ? SerializedPropertyType.Vector3 : SerializedPropertyType.Generic;
        }
    }
}

namespace UnityEditor.MPE
{
    public enum ProcessLevel
    {
        Undefined = 0,
        Main = 1,
        Secondary = 2,
    }

    public static class ProcessService
    {
        public static ProcessLevel level => StubEditor.IsSecondaryProcess ? ProcessLevel.Secondary : ProcessLevel.Main;
    }
}

namespace UnityEditor.PackageManager
{
    public partial class PackageInfo
    {
        public static PackageInfo FindForAssembly(System.Reflection.Assembly assembly) =>
            StubEditor.Packages.TryGetValue(assembly.GetName().Name, out var package) ? package : null;
    }
}
