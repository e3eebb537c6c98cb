#nullable disable
// Unity's API has no nullable annotations, so its stubs have none either.
using System;
using System.Collections.Generic;
using System.Reflection;
using UnityEditor;
using UnityEditor.Build.Reporting;
using UnityEditor.PackageManager;
using UnityEditor.SceneManagement;
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

        /// <summary>What a person has set for all projects, as far as it is a number.</summary>
        public static Dictionary<string, int> Preferences { get; } = new Dictionary<string, int>();

        public static bool IsImporting { get; set; }

        /// <summary>Play mode has been asked for and not been entered, or left and not been ended.</summary>
        public static bool IsChangingPlayMode { get; set; }

        public static bool HasCompileErrors { get; set; }

        public static bool IsPlaying { get; set; }

        /// <summary>As in Unity: what is asked for begins with a later tick.</summary>
        public static bool PlaysLater { get; set; }

        public static int Frame { get; set; }

        public static bool HasGraphics { get; set; } = true;

        /// <summary>Of textures that are drawn for the screen: their first row is the top one.</summary>
        public static bool StartsAtTop { get; set; }

        /// <summary>Which windows came to the front and were painted.</summary>
        public static List<string> Shown { get; } = new List<string>();

        public static List<UnityEngine.Object> Selected { get; } = new List<UnityEngine.Object>();

        public static EditorWindow GameView { get; set; }

        public static SceneView SceneView { get; set; }

        public static List<Camera> Cameras { get; } = new List<Camera>();


        public static string DataPath { get; set; } = "/nowhere/Project/Assets";

        public static string ContentsPath { get; set; } = "/nowhere/Editor/Data";

        /// <summary>The package of each assembly that came with one, by the assembly's name.</summary>
        public static Dictionary<string, PackageInfo> Packages { get; } = new Dictionary<string, PackageInfo>();

        public static void Install(string assembly, string package, PackageSource source) =>
            Packages[assembly] = new PackageInfo { name = package, source = source };

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

        /// <summary>The open scenes; the first is the active one.</summary>
        public static List<StubScene> Scenes { get; } = new List<StubScene> { new StubScene("Main", "Assets/Main.unity") };

        /// <summary>What outlives the scenes in play mode; Unity does not count its scene.</summary>
        public static StubScene Outliving { get; } = new StubScene("DontDestroyOnLoad", "");

        public static PrefabStage PrefabStage => PrefabInStage == null ? null : new PrefabStage { Stub = PrefabInStage };

        /// <summary>Paths of the project's scenes.</summary>
        public static HashSet<string> ScenePaths { get; } = new HashSet<string>();

        /// <summary>Assets by path, the main one first.</summary>
        public static Dictionary<string, UnityEngine.Object[]> AssetObjects { get; } = new Dictionary<string, UnityEngine.Object[]>();

        /// <summary>Objects of instances of prefabs.</summary>
        public static HashSet<GameObject> PrefabInstances { get; } = new HashSet<GameObject>();

        /// <summary>How often changes of a prefab's instance were recorded as its own.</summary>
        public static int RecordedOverrides { get; set; }

        /// <summary>Those that another component needs.</summary>
        public static HashSet<Component> NeededComponents { get; } = new HashSet<Component>();

        /// <summary>How often a person would have been asked.</summary>
        public static int Dialogs { get; set; }

        /// <summary>Fault: nothing can be saved.</summary>
        public static bool DiskIsFull { get; set; }

        public static IEnumerable<string> UndoGroups => Undo.Groups;

        internal static StubScene ActiveScene => Scenes[0];

        internal static IEnumerable<StubScene> AllScenes
        {
            get
            {
                foreach (var scene in Scenes) yield return scene;
                yield return Outliving;
                if (PrefabInStage != null) yield return PrefabInStage;
            }
        }

        /// <summary>A person opens Prefab Mode.</summary>
        public static void OpenPrefab(string path, GameObject root)
        {
            var scene = new StubScene(System.IO.Path.GetFileNameWithoutExtension(path), path, true);
            root.Owner.Roots.Remove(root);
            scene.Roots.Add(root);
            PrefabInStage = scene;
        }

        /// <summary>A person moves an object to what outlives the scenes.</summary>
        public static void KeepAlive(GameObject root)
        {
            root.Owner.Roots.Remove(root);
            Outliving.Roots.Add(root);
        }

        public static void PerformUndo() => Undo.Perform();

        /// <summary>One empty scene, as at the Editor's start.</summary>
        public static void ResetScenes()
        {
            PrefabInStage = null;
            SaveDialogs = 0;
            Scenes.Clear();
            Scenes.Add(new StubScene("Main", "Assets/Main.unity"));
            Outliving.Roots.Clear();
            ScenePaths.Clear();
            ScenePaths.Add("Assets/Main.unity");
            AssetObjects.Clear();
            PrefabInstances.Clear();
            NeededComponents.Clear();
            RecordedOverrides = 0;
            Dialogs = 0;
            DiskIsFull = false;
            Undo.Forget();
        }

        /// <summary>The prefab that is open in Prefab Mode.</summary>
        public static StubScene PrefabInStage { get; set; }

        /// <summary>How often Unity would have asked a person whether to save.</summary>
        public static int SaveDialogs { get; set; }

        /// <summary>What ScriptableObject.CreateInstance made and nobody destroyed.</summary>
        public static List<ScriptableObject> Assets { get; } = new List<ScriptableObject>();

        public static Func<BuildPlayerOptions, BuildReport> Build { get; set; }

        /// <summary>Asked for with RequestScriptCompilation: None or CleanBuildCache.</summary>
        public static List<string> CompilationRequests { get; } = new List<string>();

        public static int Refreshes { get; set; }

        public static int SavedSettings { get; set; }

        public static List<ICallbacks> TestCallbacks { get; } = new List<ICallbacks>();

        /// <summary>What waits for the list of tests.</summary>
        public static List<(TestMode Mode, Action<ITestAdaptor> Callback)> TestListRequests { get; } =
            new List<(TestMode, Action<ITestAdaptor>)>();

        public static List<ExecutionSettings> TestRuns { get; } = new List<ExecutionSettings>();

        public static List<string> CancelledRuns { get; } = new List<string>();

        /// <summary>The test framework is one of 1.1: it tells nobody of runs that do not come from the command line.</summary>
        public static bool HasOldTestFramework { get; set; }

        public static bool IsCommandLineRun { get; set; }

        /// <summary>Runs whose clean-up has not ended; the framework resumes them after a domain reload.</summary>
        internal static IReadOnlyList<TestJobData> TestJobs => TestJobDataHolder.instance.TestRuns;

        public static void BeginTestJob(string guid = null) =>
            TestJobDataHolder.instance.TestRuns.Add(new TestJobData { guid = guid ?? "guid-" + TestRuns.Count });

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
