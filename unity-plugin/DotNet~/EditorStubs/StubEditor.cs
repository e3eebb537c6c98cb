#nullable disable
// Unity's API has no nullable annotations, so its stubs have none either.
using System;
using System.Collections.Generic;
using System.Reflection;
using UnityEditor;
using UnityEditor.Build.Reporting;
using UnityEditor.TestTools.TestRunner.Api;
using UnityEditor.TestTools.TestRunner.TestRun;
using UnityEngine;

namespace JobBroker.EditorStubs
{
    /// <summary>
    /// The Editor that the stubs pretend to be: its state, and its events to raise. For tests; not Unity's API.
    /// </summary>
    public static class StubEditor
    {
        public static bool IsImportWorker { get; set; }

        public static bool IsSecondaryProcess { get; set; }

        public static bool IsBatchMode { get; set; }

        public static string ConsoleLogPath { get; set; } = "/logs/Editor.log";

        public static bool IsFocused { get; set; }

        /// <summary>Fault: what every tick asks for throws.</summary>
        public static bool FocusFails { get; set; }

        public static bool IsCompiling { get; set; }

        public static bool HasCompileErrors { get; set; }

        public static bool IsPlaying { get; set; }

        /// <summary>Play mode is on its way there.</summary>
        public static bool WillPlay { get; set; }

        public static int Frame { get; set; }

        public static bool IsSceneDirty { get; set; }

        public static bool HasGraphics { get; set; } = true;

        /// <summary>Of textures that are drawn for the screen: their first row is the top one.</summary>
        public static bool StartsAtTop { get; set; }

        /// <summary>Which windows came to the front and were painted.</summary>
        public static List<string> Shown { get; } = new List<string>();

        public static List<UnityEngine.Object> Selected { get; } = new List<UnityEngine.Object>();

        public static EditorWindow GameView { get; set; }

        public static SceneView SceneView { get; set; }

        public static List<Camera> Cameras { get; } = new List<Camera>();

        /// <summary>The prefab that is open.</summary>
        public static string OpenPrefab { get; set; }

        public static string DataPath { get; set; } = "/nowhere/Project/Assets";

        public static string ContentsPath { get; set; } = "/nowhere/Editor/Data";

        public static string PackagePath { get; set; }

        /// <summary>SessionState.</summary>
        public static Dictionary<string, string> Session { get; } = new Dictionary<string, string>();

        /// <summary>What was written to the console.</summary>
        public static List<string> Console { get; } = new List<string>();

        /// <summary>What the Console has: text, stack trace and mode (2 048: the script compiler's error; 1 024: a script's line).</summary>
        public static List<(string Text, string Stack, int Mode)> ConsoleEntries { get; } = new List<(string, string, int)>();

        /// <summary>What a person has chosen in the Console's window: 128, 256 and 512 show lines, warnings and errors, 1 collapses.</summary>
        public static int ConsoleFlags { get; set; }

        public static string ConsoleFilter { get; set; } = "";

        /// <summary>Fault: this Editor's Console is not the one that is known.</summary>
        public static bool HidesConsole { get; set; }

        /// <summary>How often the internal SignalTick was called.</summary>
        public static int Ticks;

        public static int PlayerLoopUpdates { get; set; }

        public static List<string> ExecutedMenuItems { get; } = new List<string>();

        /// <summary>What TypeCache finds: methods with an attribute.</summary>
        public static List<MethodInfo> Methods { get; } = new List<MethodInfo>();

        public static List<Type> Types { get; } = new List<Type>();

        public static List<GameObject> SceneRoots { get; } = new List<GameObject>();

        /// <summary>What ScriptableObject.CreateInstance made and nobody destroyed.</summary>
        public static List<ScriptableObject> Assets { get; } = new List<ScriptableObject>();

        public static Func<BuildPlayerOptions, BuildReport> Build { get; set; }

        /// <summary>Asked for with RequestScriptCompilation: None or CleanBuildCache.</summary>
        public static List<string> CompilationRequests { get; } = new List<string>();

        public static int Refreshes { get; set; }

        public static int SavedSettings { get; set; }

        public static List<ICallbacks> TestCallbacks { get; } = new List<ICallbacks>();

        public static List<ExecutionSettings> TestRuns { get; } = new List<ExecutionSettings>();

        public static List<string> CancelledRuns { get; } = new List<string>();

        /// <summary>The test framework is one of 1.1: it tells nobody of runs that do not come from the command line.</summary>
        public static bool HasOldTestFramework { get; set; }

        public static bool IsCommandLineRun { get; set; }

        /// <summary>Runs whose clean-up has not ended; the framework resumes them after a domain reload.</summary>
        internal static IReadOnlyList<TestJobData> TestJobs => TestJobDataHolder.instance.TestRuns;

        public static void BeginTestJob() =>
            TestJobDataHolder.instance.TestRuns.Add(new TestJobData { guid = "guid-" + TestRuns.Count });

        /// <summary>The end of a run's clean-up: nobody is called.</summary>
        public static void EndTestJobs() => TestJobDataHolder.instance.TestRuns.Clear();

        public static void RaiseUpdate() => EditorApplication.update?.Invoke();

        public static void RaiseBeforeReload() => AssemblyReloadEvents.RaiseBefore();

        public static void RaiseAfterReload() => AssemblyReloadEvents.RaiseAfter();

        public static void RaiseQuitting() => EditorApplication.RaiseQuitting();

        public static int BeforeReloadListeners => AssemblyReloadEvents.BeforeListeners;

        public static void Write(string line, string stack, LogType type)
        {
            var mode = type == LogType.Log ? 1 << 10 : type == LogType.Warning ? 1 << 9 : type == LogType.Exception ? 1 << 17 : 1 << 8;
            ConsoleEntries.Add((line, stack, mode));
            Application.Raise(line, stack, type);
        }
    }
}
