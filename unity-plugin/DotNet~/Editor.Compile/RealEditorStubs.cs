using System;

// The members of Unity's API that the kit's scripts use and the adapter does not; each throws, as nothing here runs them.
namespace UnityEngine
{
    public enum RuntimePlatform
    {
        OSXEditor,
    }

    public static class Application
    {
        public static bool isPlaying => throw new NotSupportedException();

        public static RuntimePlatform platform => throw new NotSupportedException();
    }

    public static class Debug
    {
        public static void LogWarning(object message) => throw new NotSupportedException();
    }
}

namespace UnityEngine.SceneManagement
{
    public struct Scene
    {
    }
}

namespace UnityEngine.TestTools
{
    [AttributeUsage(AttributeTargets.Method)]
    public sealed class UnityTestAttribute : Attribute
    {
    }

    public sealed class WaitForDomainReload
    {
    }
}

namespace UnityEditor
{
    [AttributeUsage(AttributeTargets.Method)]
    public sealed class MenuItem : Attribute
    {
        public MenuItem(string path) => _ = path;
    }

    public static class EditorApplication
    {
        public delegate void CallbackFunction();

        public static CallbackFunction delayCall;

        public static string applicationPath => throw new NotSupportedException();

        public static void Exit(int code) => throw new NotSupportedException();
    }

    public static class EditorUtility
    {
        public static void RequestScriptReload() => throw new NotSupportedException();
    }
}

namespace UnityEditor.SceneManagement
{
    public enum NewSceneSetup
    {
        DefaultGameObjects,
    }

    public enum NewSceneMode
    {
        Single,
    }

    public static class EditorSceneManager
    {
        public static UnityEngine.SceneManagement.Scene NewScene(NewSceneSetup setup, NewSceneMode mode) =>
            throw new NotSupportedException();

        public static bool SaveScene(UnityEngine.SceneManagement.Scene scene, string path) => throw new NotSupportedException();

        public static UnityEngine.SceneManagement.Scene GetActiveScene() => throw new NotSupportedException();

        public static bool MarkSceneDirty(UnityEngine.SceneManagement.Scene scene) => throw new NotSupportedException();
    }
}
