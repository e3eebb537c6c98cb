#nullable disable
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using JobBroker.EditorStubs;

namespace UnityEngine
{
    public enum LogType
    {
        Error,
        Assert,
        Warning,
        Log,
        Exception,
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class SerializeField : Attribute
    {
    }

    public sealed class Application
    {
        public delegate void LogCallback(string condition, string stackTrace, LogType type);

        public static event LogCallback logMessageReceivedThreaded;

        public static string dataPath => StubEditor.DataPath;

        public static string unityVersion => "2021.3.0f1";

        public static string consoleLogPath => StubEditor.ConsoleLogPath;

        public static bool isBatchMode => StubEditor.IsBatchMode;

        internal static void Raise(string line, string stack, LogType type) =>
            logMessageReceivedThreaded?.Invoke(line, stack, type);
    }

    public class Debug
    {
        public static void Log(object message) => StubEditor.Console.Add("log: " + message);

        public static void LogWarning(object message) => StubEditor.Console.Add("warning: " + message);
    }

    [Flags]
    public enum HideFlags
    {
        None = 0,
        HideAndDontSave = 61,
    }

    public class Object
    {
        private bool isDestroyed;

        public string name { get; set; } = "";

        public HideFlags hideFlags { get; set; }

        /// <summary>A destroyed object is as good as null.</summary>
        public static bool operator ==(Object x, Object y) => ReferenceEquals(Alive(x), Alive(y));

        public static bool operator !=(Object x, Object y) => !(x == y);

        public override bool Equals(object other) => ReferenceEquals(this, other);

        public override int GetHashCode() => System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(this);

        public static void DestroyImmediate(Object obj)
        {
            obj.isDestroyed = true;
            StubEditor.Assets.Remove(obj as ScriptableObject);
        }

        private static Object Alive(Object one) => one is null || one.isDestroyed ? null : one;
    }

    public class ScriptableObject : Object
    {
        public static T CreateInstance<T>() where T : ScriptableObject
        {
            var made = Activator.CreateInstance<T>();
            StubEditor.Assets.Add(made);
            return made;
        }
    }

    public class Component : Object
    {
        public GameObject gameObject { get; internal set; }

        public Transform transform => gameObject.transform;
    }

    public class BoxCollider : Component
    {
    }

    public class Behaviour : Component
    {
    }

    public class MonoBehaviour : Behaviour
    {
    }

    public class Transform : Component, IEnumerable
    {
        private readonly List<Transform> children = new List<Transform>();

        protected Transform()
        {
        }

        public Transform parent { get; private set; }

        public IEnumerator GetEnumerator() => children.GetEnumerator();

        internal static Transform Of(GameObject owner) => new Transform { gameObject = owner };

        internal void Add(Transform child)
        {
            child.parent = this;
            children.Add(child);
        }
    }

    public sealed class GameObject : Object
    {
        private readonly List<Component> components = new List<Component>();

        public GameObject(string name)
        {
            this.name = name;
            transform = Transform.Of(this);
            components.Add(transform);
        }

        public Transform transform { get; }

        public bool activeInHierarchy { get; internal set; } = true;

        public int layer { get; set; }

        public string tag { get; set; } = "Untagged";

        public T[] GetComponents<T>() => components.Cast<object>().Cast<T>().ToArray();

        public T AddComponent<T>() where T : Component
        {
            var made = Activator.CreateInstance<T>();
            made.gameObject = this;
            components.Add(made);
            return made;
        }

        internal void AddMissing() => components.Add(null);

        internal void AddChild(GameObject child) => transform.Add(child.transform);
    }

    public struct Vector2
    {
    }

    public struct Vector3
    {
    }

    public struct Vector4
    {
    }

    public struct Quaternion
    {
    }

    public struct Color
    {
    }

    public struct Rect
    {
        public Rect(float x, float y, float width, float height)
        {
            this.width = width;
            this.height = height;
        }

        public float width { get; set; }

        public float height { get; set; }
    }
}

namespace UnityEngine.SceneManagement
{
    public struct Scene
    {
        internal StubScene of;

        public string name => of.Name;

        public string path => of.Path;

        public bool isLoaded => true;

        public bool isDirty => of.IsDirty;

        public bool IsValid() => of != null;

        public GameObject[] GetRootGameObjects() => StubEditor.SceneRoots.ToArray();
    }

    public class SceneManager
    {
        public static int sceneCount => StubEditor.Scenes.Count;

        public static Scene GetSceneAt(int index) => new Scene { of = StubEditor.Scenes[index] };

        public static Scene GetActiveScene() => GetSceneAt(0);
    }
}
