#nullable disable
using JobBroker.EditorStubs;
using UnityEngine.SceneManagement;

namespace UnityEditor.SceneManagement
{
    public sealed class EditorSceneManager
    {
        /// <summary>A scene without a file, or with one that is read-only, is asked about in a dialog.</summary>
        public static bool SaveScene(Scene scene)
        {
            if (scene.path.Length == 0) StubEditor.SaveDialogs++;
            if (scene.path.Length == 0 || scene.of.CannotBeSaved) return false;
            scene.of.IsDirty = false;
            return true;
        }
    }

    public abstract class PreviewSceneStage
    {
        public Scene scene => new Scene { of = StubEditor.PrefabInStage };
    }

    public sealed class PrefabStage : PreviewSceneStage
    {
        public string assetPath => StubEditor.PrefabInStage.Path;
    }

    public static class PrefabStageUtility
    {
        public static PrefabStage GetCurrentPrefabStage() => StubEditor.PrefabInStage == null ? null : new PrefabStage();
    }
}
