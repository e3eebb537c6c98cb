#nullable enable
using System;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.EditorStubs;
using UnityEditor.TestTools.TestRunner.Api;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>The stubs' Editor as it is fresh from its start; every test class over it makes one.</summary>
internal sealed class StubbedEditor
{
    public StubbedEditor()
    {
        StubEditor.Session.Clear();
        StubProject.Reset();
        StubEditor.Assets.Clear();
        StubEditor.Console.Clear();
        StubEditor.ExecutedMenuItems.Clear();
        StubEditor.Methods.Clear();
        StubEditor.ResetScenes();
        StubEditor.Types.Clear();
        StubEditor.IsPlaying = false;
        StubEditor.PlaysLater = false;
        StubEditor.Frame = 0;
        StubEditor.HasGraphics = true;
        StubEditor.StartsAtTop = false;
        StubEditor.Shown.Clear();
        StubEditor.Selected.Clear();
        StubEditor.GameView = null;
        StubEditor.SceneView = null;
        StubEditor.Cameras.Clear();
        StubEditor.CompilationRequests.Clear();
        StubEditor.TestCallbacks.Clear();
        StubEditor.TestRuns.Clear();
        StubEditor.TestListRequests.Clear();
        StubEditor.CancelledRuns.Clear();
        StubEditor.HasOldTestFramework = false;
        StubEditor.IsCommandLineRun = false;
        StubEditor.EndTestJobs();
        StubEditor.IsCompiling = false;
        StubEditor.Preferences.Clear();
        StubEditor.IsImporting = false;
        StubEditor.IsChangingPlayMode = false;
        UnityEditor.EditorApplication.isPlaying = false;
        StubEditor.HasCompileErrors = false;
        StubEditor.ConsoleEntries.Clear();
        StubEditor.ConsoleFlags = 0;
        StubEditor.ConsoleFilter = "";
        StubEditor.HidesConsole = false;
        StubEditor.Refreshes = 0;
        StubEditor.SavedSettings = 0;
        UnityEditor.EditorSettings.enterPlayModeOptionsEnabled = false;
        UnityEditor.EditorSettings.enterPlayModeOptions = UnityEditor.EnterPlayModeOptions.None;
    }

    public SteppedClock Clock { get; } = new();

    /// <summary>A folder of its own for each.</summary>
    public string Project { get; } = Directory.CreateTempSubdirectory("jb-project-").FullName;

    /// <summary>The end of a run as the framework tells it: first its tests', then, untold, its clean-up's.</summary>
    public static void Finish(TestEnd result)
    {
        Notify(one => one.RunFinished(result));
        StubEditor.EndTestJobs();
    }

    /// <summary>Sends a framework event to all listeners.</summary>
    public static void Notify(Action<ICallbacks> what)
    {
        foreach (var listener in StubEditor.TestCallbacks.ToList()) what(listener);
    }
}

internal sealed class SteppedClock : IClock
{
    public long NowMs { get; set; } = 1_700_000_000_000;

    public long ElapsedMs { get; set; }
}
