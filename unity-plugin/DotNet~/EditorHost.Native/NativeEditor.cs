using System.Collections.Concurrent;
using JobBroker.EditorHost.Native.Scenes;

namespace JobBroker.EditorHost.Native;

/// <summary>A line of the console.</summary>
public sealed record NativeLine(string Type, string Message, long AtMs);

/// <summary>What lives in the Editor process beside the script domain, and so outlives it.</summary>
public sealed class NativeEditor
{
    private volatile string phase = "ready";
    private volatile IReadOnlyList<string> labelsOfSettings = [];
    private long assetCounter;
    private TestRun? run;

    public NativeEditor(string projectPath, string unityVersion, CounterFile counter)
    {
        ProjectPath = Directory.Exists(projectPath) ? new DirectoryInfo(projectPath).FullName : projectPath;
        UnityVersion = unityVersion;
        Counter = counter;
        PlayMode = new NativePlayMode(this);
        Scenes = new SceneWorld(() => Script.SceneObjects, () => PlayMode.IsPlaying);
        Project = new NativeProject(this).Filled();
    }

    public MainLoop Loop { get; } = new();

    public Script Script { get; } = new();

    public SceneWorld Scenes { get; }

    public NativePlayMode PlayMode { get; }

    public CounterFile Counter { get; }

    public NativeProject Project { get; }

    public string ProjectPath { get; }

    public string UnityVersion { get; }

    /// <summary>Its labels between commas, as an environment variable has them.</summary>
    public string? Labels { get; set; }

    /// <summary>Those of the user's settings, which change while it runs.</summary>
    public IReadOnlyList<string> LabelsOfSettings
    {
        get => labelsOfSettings;
        set => labelsOfSettings = value;
    }

    /// <summary>Unity's own command line.</summary>
    public IReadOnlyList<string> CommandLine { get; init; } = [];

    public bool IsBatchMode => CommandLine.Contains("-batchmode");

    public long StartedAtMs { get; } = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

    public ConcurrentDictionary<string, string> SessionState { get; } = new();

    /// <summary>
    /// What was switched, by word: the security switches (tests, menu-items, …), which are all on at first; tools and assemblies;
    /// and development, which is off at first.
    /// </summary>
    public ConcurrentDictionary<string, bool> Switches { get; } = new();

    /// <summary>Tools that were added manually; each echoes its text. Those with true are for development.</summary>
    public ConcurrentDictionary<string, bool> ExtraTools { get; } = new();

    /// <summary>The package that the added tools came with; null: the project's own code.</summary>
    public string? ToolPackage { get; set; }

    /// <summary>What it does at this moment; where that is nothing, play mode counts.</summary>
    public string Phase
    {
        get => phase != "ready" ? phase
            : PlayMode.WillPlay != PlayMode.IsPlaying ? "changing_play_mode"
            : PlayMode.IsPlaying ? "playing" : phase;
        set => phase = value;
    }

    public long AssetCounter => Interlocked.Read(ref assetCounter);

    /// <summary>Seconds are multiplied by this.</summary>
    public double TimeScale { get; set; } = 1;

    public NativeConsole Console { get; } = new();

    /// <summary>What the last compilation said, one line an error, as the Console has it.</summary>
    public IReadOnlyList<string> CompileErrors { get; set; } = [];

    /// <summary>Nothing is under way any more.</summary>
    public void Rest() => Phase = CompileErrors.Count > 0 ? "compile_errors" : "ready";

    public void AssetsChanged() => Interlocked.Increment(ref assetCounter);

    public void Write(string type, string message) => Console.Write(type, message);

    /// <summary>Holds the calling thread as native code does: nothing interrupts it.</summary>
    public void Block(double seconds) => Thread.Sleep(TimeSpan.FromSeconds(seconds * TimeScale));

    public TestRun StartTests(string id, IReadOnlyList<string> names)
    {
        var failing = names.Take(Script.TestFailures).ToHashSet();
        Phase = "testing";
        run = new TestRun(Loop, id, names, Script.TestSeconds * TimeScale, failing.Contains, Rest);
        return run;
    }

    /// <summary>The run of this id if the framework still has it.</summary>
    public TestRun? RunOf(string id) => run?.Id == id ? run : null;

    /// <summary>A domain reload takes everything away that points into the script domain.</summary>
    public void DetachDomain()
    {
        Console.DetachDomain();
        run?.Detach();
    }
}
