#nullable disable
namespace UnityEngine
{
    public enum EventType
    {
        Repaint = 7,
        Layout = 8,
    }

    public sealed class Event
    {
        public static Event current { get; set; } = new Event();

        public EventType type { get; set; } = EventType.Layout;
    }

    public class GUIContent
    {
        public GUIContent(string text, string tooltip)
        {
            this.text = text;
            this.tooltip = tooltip;
        }

        public string text { get; set; }

        public string tooltip { get; set; }
    }

    public sealed class GUIStyle
    {
        public GUIStyle()
        {
        }

        public GUIStyle(GUIStyle other)
        {
            richText = other.richText;
        }

        public bool richText { get; set; } = true;
    }

    public sealed class GUILayoutOption
    {
    }

    public class GUILayout
    {
        public static bool Button(string text, params GUILayoutOption[] options) => StubGui.IsClicked(text);

        public static GUILayoutOption Width(float width) => new GUILayoutOption();
    }

    /// <summary>What is drawn and clicked in the stub; not Unity's.</summary>
    internal static class StubGui
    {
        public static System.Collections.Generic.List<string> Drawn { get; } = new System.Collections.Generic.List<string>();

        public static string Click { get; set; }

        /// <summary>What is typed into the field of a label.</summary>
        public static System.Collections.Generic.Dictionary<string, string> Types { get; } =
            new System.Collections.Generic.Dictionary<string, string>();

        public static string Typed(string label, string text)
        {
            Drawn.Add(label + ": [" + text + "]");
            return Types.TryGetValue(label, out var typed) ? typed : text;
        }

        public static bool IsClicked(string text)
        {
            Drawn.Add("[" + text + "]");
            return text == Click;
        }
    }
}
