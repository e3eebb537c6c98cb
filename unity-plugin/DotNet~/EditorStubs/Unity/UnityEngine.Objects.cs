#nullable disable
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using JobBroker.EditorStubs;
using UnityEngine.SceneManagement;

namespace UnityEngine
{
#if UNITY_6000_3_OR_NEWER
    public struct EntityId
    {
        internal long Number;

        public override string ToString() => Number.ToString(System.Globalization.CultureInfo.InvariantCulture);
    }
#endif

    public class Object
    {
        private static int last;

        internal int Number { get; } = ++last;

        internal bool IsDestroyed { get; set; }

        public string name { get; set; } = "";

        public HideFlags hideFlags { get; set; }

        /// <summary>A destroyed object is as good as null.</summary>
        public static bool operator ==(Object x, Object y) => ReferenceEquals(Alive(x), Alive(y));

        public static bool operator !=(Object x, Object y) => !(x == y);

        public override bool Equals(object other) => ReferenceEquals(this, other);

        public override int GetHashCode() => System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(this);

#if UNITY_6000_3_OR_NEWER
        public EntityId GetEntityId() => new EntityId { Number = Number };
#else
        public int GetInstanceID() => -Number;
#endif

        public static void DestroyImmediate(Object obj)
        {
            obj.IsDestroyed = true;
            StubEditor.Assets.Remove(obj as ScriptableObject);
        }

        /// <summary>Puts everything back as it is now.</summary>
        internal virtual Action Capture()
        {
            var fields = Fields(GetType()).Select(field => (field, Value: field.GetValue(this))).ToList();
            return () => fields.ForEach(one => one.field.SetValue(this, one.Value));
        }

        internal static IEnumerable<FieldInfo> Fields(Type type)
        {
            const BindingFlags own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.DeclaredOnly;
            for (var at = type; at != typeof(Object) && at != typeof(Component) && at != null; at = at.BaseType)
            {
                foreach (var field in at.GetFields(own)) yield return field;
            }
        }

        private static Object Alive(Object one) => one is null || one.IsDestroyed ? null : one;
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
        internal bool m_Enabled = true;
    }

    public class MonoBehaviour : Behaviour
    {
    }

    /// <summary>Here the world's position is the sum of the parents', and rotations turn nothing.</summary>
    public class Transform : Component, IEnumerable
    {
        internal readonly List<Transform> Children = new List<Transform>();

        protected Transform()
        {
        }

        public Transform parent { get; private set; }

        public Vector3 localPosition { get; set; }

        public Quaternion localRotation { get; set; } = new Quaternion(0, 0, 0, 1);

        public Vector3 localScale { get; set; } = new Vector3(1, 1, 1);

        public Vector3 localEulerAngles { get; set; }

        public Vector3 eulerAngles
        {
            get => localEulerAngles;
            set => localEulerAngles = value;
        }

        public Vector3 position
        {
            get => parent == null ? localPosition : parent.position.Plus(localPosition, 1);
            set => localPosition = parent == null ? value : value.Plus(parent.position, -1);
        }

        public IEnumerator GetEnumerator() => Children.GetEnumerator();

        public void SetParent(Transform parent, bool worldPositionStays)
        {
            var before = position;
            Attach(parent);
            if (worldPositionStays) position = before;
        }

        internal static Transform Of(GameObject owner) => new Transform { gameObject = owner };

        internal void Attach(Transform wanted)
        {
            var scene = gameObject.Owner;
            parent?.Children.Remove(this);
            scene?.Roots.Remove(gameObject);
            parent = wanted;
            if (wanted != null) wanted.Children.Add(this);
            else scene?.Roots.Add(gameObject);
        }

        internal override Action Capture()
        {
            var (place, turn, angles, size) = (localPosition, localRotation, localEulerAngles, localScale);
            return () => (localPosition, localRotation, localEulerAngles, localScale) = (place, turn, angles, size);
        }
    }

    public enum PrimitiveType
    {
        Sphere,
        Capsule,
        Cylinder,
        Cube,
        Plane,
        Quad,
    }

    public sealed class GameObject : Object
    {
        private readonly List<Component> components = new List<Component>();

        /// <summary>Comes into the active scene.</summary>
        public GameObject(string name)
        {
            this.name = name;
            transform = Transform.Of(this);
            components.Add(transform);
            StubEditor.ActiveScene.Roots.Add(this);
        }

        public Transform transform { get; }

        public bool activeSelf { get; private set; } = true;

        public bool activeInHierarchy => activeSelf && (transform.parent == null || transform.parent.gameObject.activeInHierarchy);

        public int layer { get; set; }

        public string tag { get; set; } = "Untagged";

        public Scene scene => new Scene(Owner);

        public static GameObject CreatePrimitive(PrimitiveType type)
        {
            var made = new GameObject(type.ToString());
            made.AddComponent<BoxCollider>();
            return made;
        }

        public void SetActive(bool value) => activeSelf = value;

        public T[] GetComponents<T>() => components.Cast<object>().Cast<T>().ToArray();

        public T AddComponent<T>() where T : Component => (T)Add(typeof(T));

        internal StubScene Owner
        {
            get
            {
                var root = this;
                while (root.transform.parent != null) root = root.transform.parent.gameObject;
                return StubEditor.AllScenes.FirstOrDefault(one => one.Roots.Contains(root));
            }
        }

        internal void AddMissing() => components.Add(null);

        internal Component Add(Type type)
        {
            var made = (Component)Activator.CreateInstance(type);
            made.gameObject = this;
            components.Add(made);
            return made;
        }

        internal void Put(Component component, int index) => components.Insert(index, component);

        internal int Take(Component component)
        {
            var index = components.FindIndex(one => ReferenceEquals(one, component));
            components.RemoveAt(index);
            return index;
        }

        internal GameObject Clone()
        {
            var copy = new GameObject(name);
            foreach (var component in components.Where(one => !(one is null) && !(one is Transform))) copy.Add(component.GetType());
            foreach (var child in transform.Children) child.gameObject.Clone().transform.Attach(copy.transform);
            return copy;
        }

        internal override Action Capture()
        {
            var (was, on, tagged, number) = (name, activeSelf, tag, layer);
            return () => (name, activeSelf, tag, layer) = (was, on, tagged, number);
        }
    }

    public sealed class Resources
    {
        public static T[] FindObjectsOfTypeAll<T>() where T : Object => StubEditor.AllScenes
            .SelectMany(scene => scene.Roots)
            .SelectMany(Below)
            .Concat<Object>(StubEditor.Assets)
            .OfType<T>()
            .ToArray();

        private static IEnumerable<GameObject> Below(GameObject one) =>
            one.transform.Children.SelectMany(child => Below(child.gameObject)).Prepend(one);
    }
}
