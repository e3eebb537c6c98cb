#nullable disable
using JobBroker.EditorStubs;
using UnityEngine;

namespace UnityEditor
{
    public enum MessageType
    {
        None,
        Info,
        Warning,
        Error,
    }

    public class EditorWindow : ScriptableObject
    {
        internal HostView m_Parent;

        public GUIContent titleContent { get; set; } = new GUIContent("", "");

        public Rect position { get; set; }

        public static T GetWindow<T>(string title) where T : EditorWindow => CreateInstance<T>();

        public void Repaint()
        {
        }

        public void ShowTab() => StubEditor.Shown.Add("tab " + titleContent.text);

        internal void RepaintImmediately() => StubEditor.Shown.Add("repaint " + titleContent.text);
    }

    public sealed class EditorStyles
    {
        public static GUIStyle boldLabel => new GUIStyle();

        public static GUIStyle label => new GUIStyle();

        public static GUIStyle miniLabel => new GUIStyle();

        public static GUIStyle wordWrappedMiniLabel => new GUIStyle();
    }

    public sealed class EditorGUIUtility
    {
        public static string systemCopyBuffer { get; set; } = "";

        public static float pixelsPerPoint => 2;
    }

    public sealed class EditorGUI
    {
        public static void ProgressBar(Rect position, float value, string text) => StubGui.Drawn.Add(text);

        public static void BeginDisabledGroup(bool disabled)
        {
        }

        public static void EndDisabledGroup()
        {
        }
    }

    public sealed class EditorGUILayout
    {
        public static void LabelField(string label, params GUILayoutOption[] options) => StubGui.Drawn.Add(label);

        public static void LabelField(string label, GUIStyle style, params GUILayoutOption[] options) =>
            StubGui.Drawn.Add(label);

        public static void LabelField(string label, string label2, params GUILayoutOption[] options) =>
            StubGui.Drawn.Add(label + ": " + label2);

        public static void LabelField(string label, string label2, GUIStyle style, params GUILayoutOption[] options) =>
            StubGui.Drawn.Add(label + (style.richText ? ": (rich) " : ": ") + label2);

        public static void HelpBox(string message, MessageType type) => StubGui.Drawn.Add(type + ": " + message);

        public static void BeginHorizontal(params GUILayoutOption[] options)
        {
        }

        public static void EndHorizontal()
        {
        }

        public static Vector2 BeginScrollView(Vector2 scrollPosition, params GUILayoutOption[] options) => scrollPosition;

        public static void EndScrollView()
        {
        }

        public static void Space()
        {
        }

        public static Rect GetControlRect(params GUILayoutOption[] options) => default;

        public static bool ToggleLeft(string label, bool value, params GUILayoutOption[] options) =>
            StubGui.IsClicked(label) != value;

        public static bool ToggleLeft(GUIContent label, bool value, params GUILayoutOption[] options) =>
            StubGui.IsClicked((value ? "x " : "") + label.text) != value;

        public static bool Foldout(bool foldout, string content, bool toggleOnLabelClick) =>
            StubGui.IsClicked(content) != foldout;

        public static string TextField(string label, string text, params GUILayoutOption[] options) => text;

        public static string DelayedTextField(string label, string text, params GUILayoutOption[] options) =>
            StubGui.Typed(label, text);

        public static string TextArea(string text, params GUILayoutOption[] options) => text;
    }
}
