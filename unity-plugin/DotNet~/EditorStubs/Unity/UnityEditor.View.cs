#nullable disable
using JobBroker.EditorStubs;
using UnityEngine;

namespace UnityEditor
{
    internal class GUIView : ScriptableObject
    {
        internal byte[] Shows { get; set; } = { 5, 6 };

        internal void GrabPixels(RenderTexture rd, Rect rect) => rd.Rows = Shows;
    }

    internal class HostView : GUIView
    {
    }

    internal abstract class PlayModeView : EditorWindow
    {
        private RenderTexture m_TargetTexture;

        internal static PlayModeView GetMainPlayModeView() => StubEditor.GameView as PlayModeView;

        internal void Show(RenderTexture target) => m_TargetTexture = target;
    }

    internal class GameView : PlayModeView
    {
    }

    public class SceneView : EditorWindow
    {
        public static SceneView lastActiveSceneView => StubEditor.SceneView;

        public Camera camera { get; internal set; }
    }
}
