using System.Diagnostics;
using System.IO;
using System.Threading;
using UnityEditor;
using UnityEditor.SceneManagement;
using Debug = UnityEngine.Debug;

namespace JobBroker.RealEditor
{
    /// <summary>What the kit asks of Unity. What happened is written into Temp, which outlives a domain reload.</summary>
    public static class KitMenu
    {
        /// <summary>Six seconds of the main thread, and one more line in Temp/kit-count.</summary>
        [MenuItem("Kit/Count Slowly")]
        public static void CountSlowly()
        {
            File.AppendAllText("Temp/kit-count", "counted\n");
            Thread.Sleep(6000);
        }

        [MenuItem("Kit/Write Number")]
        public static void WriteNumber() => File.WriteAllText("Temp/kit-number", ChangedScript.Number.ToString());

        [MenuItem("Kit/Log Before A Reload")]
        public static void LogBeforeAReload() => Debug.LogWarning("a line from before the reload");

        [MenuItem("Kit/Reload")]
        public static void Reload() => EditorApplication.delayCall += EditorUtility.RequestScriptReload;

        [MenuItem("Kit/Open A Saved Scene")]
        public static void OpenASavedScene()
        {
            var scene = EditorSceneManager.NewScene(NewSceneSetup.DefaultGameObjects, NewSceneMode.Single);
            EditorSceneManager.SaveScene(scene, "Assets/KitScene.unity");
        }

        [MenuItem("Kit/Change The Scene")]
        public static void ChangeTheScene() => EditorSceneManager.MarkSceneDirty(EditorSceneManager.GetActiveScene());

        /// <summary>Another Unity for this project, as a script or a person may start one; it must not take the bridge's place.</summary>
        [MenuItem("Kit/Start A Second Process")]
        public static void StartASecondProcess()
        {
            var start = new ProcessStartInfo(
                EditorApplication.applicationPath,
                "-batchmode -nographics -quit -jobBroker -projectPath \"" + Directory.GetCurrentDirectory()
                + "\" -logFile \"" + Path.GetFullPath("Temp/kit-second.log") + "\"") { UseShellExecute = false };
            if (UnityEngine.Application.platform == UnityEngine.RuntimePlatform.OSXEditor)
            {
                start.FileName = Path.Combine(EditorApplication.applicationPath, "Contents/MacOS/Unity");
            }
            using (var process = Process.Start(start))
            {
                var ended = process.WaitForExit(120_000);
                File.WriteAllText("Temp/kit-second", ended ? process.ExitCode.ToString() : "still running");
                if (!ended) process.Kill();
            }
        }

        [MenuItem("Kit/Quit")]
        public static void Quit() => EditorApplication.delayCall += () => EditorApplication.Exit(0);
    }
}
