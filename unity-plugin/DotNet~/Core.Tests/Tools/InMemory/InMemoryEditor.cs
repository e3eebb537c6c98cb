using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
using JobBroker.EditorHost.Domain.Scenes;
using JobBroker.EditorHost.Native.Scenes;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

/// <summary>
/// A Unity of memory alone: every port that tools are written against, each as simple as the port allows.
/// </summary>
public sealed class InMemoryEditor : IDisposable
{
    /// <param name="world">Whose scenes the tools read; null: those of <see cref="Scene"/>.</param>
    /// <param name="clock">The tools' clock; null: <see cref="Clock"/>.</param>
    public InMemoryEditor(ICodeCompiler? code = null, SceneWorld? world = null, IClock? clock = null)
    {
        World = world ?? new SceneWorld(() => 4, () => false);
        var scenes = new HostScenes(World);
        Info = new InMemoryEditorInfo();
        Logs = new ConsoleBuffer(Console);
        Ticks = new TickWaits(Clock);
        PlayMode = new InMemoryPlayMode(Clock, Ticks);
        Services = new ToolServices
        {
            Clock = clock ?? Clock,
            MainThread = new CallingThread(),
            Editor = Info,
            Console = Console,
            Logs = Logs,
            Menu = Menu,
            Compiler = Compiler,
            Tests = Tests,
            Scene = world == null ? Scene : scenes,
            SceneFiles = scenes,
            Objects = new HostObjects(World, scenes),
            Search = Search,
            Builds = Builds,
            Code = code ?? new NoCompiler(),
            PlayMode = PlayMode,
            State = State,
            Screen = Screen,
            Assets = Assets,
            Packages = Packages,
            Ticks = Ticks,
            Security = Security,
        };
    }

    public FixedClock Clock { get; } = new();

    public InMemoryEditorInfo Info { get; }

    public InMemoryConsole Console { get; } = new();

    public ConsoleBuffer Logs { get; }

    public InMemoryMenu Menu { get; } = new();

    public ScriptedCompiler Compiler { get; } = new();

    public ScriptedTestRunner Tests { get; } = new();

    public SceneWorld World { get; }

    public InMemoryScene Scene { get; } = new();

    public InMemorySearch Search { get; } = new();

    public ScriptedBuilds Builds { get; } = new();

    public InMemoryPlayMode PlayMode { get; }

    public InMemoryState State { get; } = new();

    public InMemoryScreen Screen { get; } = new();

    public InMemoryAssets Assets { get; } = new();

    public ScriptedPackages Packages { get; } = new();

    public TickWaits Ticks { get; }

    public ChangeableSecurity Security { get; } = new();

    public ToolServices Services { get; }

    /// <summary>So many ticks of the Editor.</summary>
    public void Tick(int times = 1)
    {
        for (var tick = 0; tick < times; tick++) Ticks.Tick();
    }

    public void Dispose()
    {
        Logs.Dispose();
        Directory.Delete(Info.ProjectPath, true);
    }
}

public sealed class FixedClock : IClock
{
    public long NowMs { get; set; } = 1_700_000_000_000;

    public long ElapsedMs { get; set; }
}

/// <summary>Every calling thread counts as the main thread.</summary>
public sealed class CallingThread : IMainThread
{
    private readonly Thread thread = Thread.CurrentThread;

    public bool IsCurrent => thread == Thread.CurrentThread;

    public bool CanWake => false;

    public void Wake()
    {
    }
}

public sealed class InMemoryEditorInfo : IEditorInfo
{
    public string ProjectName { get; set; } = "Game";

    public string ProjectPath { get; } = Directory.CreateTempSubdirectory("jb-tools-").FullName;

    public string UnityVersion => "2022.3.0f1";

    public int ProcessId => Environment.ProcessId;

    public long ProcessStartedAtMs => 0;

    public string? LogFile => null;

    public IReadOnlyList<string> Labels { get; set; } = [];

    public long AssetCounter => 0;

    public bool Focused => true;

    public string Phase { get; set; } = "ready";
}

public sealed class ChangeableSecurity : ISecuritySettings
{
    public SecuritySnapshot Current { get; set; } = new();
}

public sealed class NoCompiler : ICodeCompiler
{
    public Task<CompiledCode> CompileAsync(string source, string assemblyName, CancellationToken cancellation) =>
        throw new NotSupportedException("This Editor compiles no code.");
}
