using System.Diagnostics;
using JobBroker.Bridge;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Session;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

internal sealed class HostClock : IClock
{
    private readonly Stopwatch elapsed = Stopwatch.StartNew();

    public long NowMs => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

    public long ElapsedMs => elapsed.ElapsedMilliseconds;
}

internal sealed class HostMainThread(NativeEditor native) : IMainThread
{
    public bool IsCurrent => native.Loop.IsCurrent;

    public bool CanWake => true;

    public void Wake() => native.Loop.SignalTick();
}

internal sealed class HostSessionStore(NativeEditor native) : ISessionStore
{
    public string? Get(string key) => native.SessionState.TryGetValue(key, out var value) ? value : null;

    public void Set(string key, string? value)
    {
        if (value == null) native.SessionState.TryRemove(key, out _);
        else native.SessionState[key] = value;
    }
}

internal sealed class HostEditorInfo(NativeEditor native) : IEditorInfo
{
    private volatile IReadOnlyList<string> labels = LabelsOf(native);
    private volatile IReadOnlyList<string> labelsOfSettings = native.LabelsOfSettings;

    public string ProjectName => Path.GetFileName(native.ProjectPath.TrimEnd(Path.DirectorySeparatorChar));

    public string ProjectPath => native.ProjectPath;

    public string UnityVersion => native.UnityVersion;

    public int ProcessId => Environment.ProcessId;

    public long ProcessStartedAtMs => native.StartedAtMs;

    public string? LogFile => null;

    public IReadOnlyList<string> Labels
    {
        get
        {
            if (labelsOfSettings == native.LabelsOfSettings) return labels;
            labelsOfSettings = native.LabelsOfSettings;
            return labels = LabelsOf(native);
        }
    }

    public long AssetCounter => native.AssetCounter;

    public bool Focused => native.Loop.Focused;

    public string Phase => native.Phase;

    private static IReadOnlyList<string> LabelsOf(NativeEditor native) =>
        EditorLabels.Of(native.Labels, native.CommandLine, native.LabelsOfSettings, native.IsBatchMode, null);
}

internal sealed class HostConsole : IConsole
{
    private readonly NativeConsole native;
    private bool isStale = true;

    public HostConsole(NativeEditor editor)
    {
        native = editor.Console;
        native.LineWritten += line => LineWritten?.Invoke(LineOf(line, line.AtMs));
        native.Compiled += () => isStale = true;
    }

    public event Action<ConsoleLine>? LineWritten;

    /// <summary>Without times, as Unity's entries are.</summary>
    public IReadOnlyList<ConsoleLine>? TakeEntries(int most)
    {
        if (!isStale) return null;
        isStale = false;
        return native.Entries().TakeLast(most).Select(line => LineOf(line, 0)).ToList();
    }

    public int Clear()
    {
        isStale = true;
        return native.Clear();
    }

    private static ConsoleLine LineOf(NativeLine line, long atMs) =>
        new(Enum.Parse<ConsoleLineType>(line.Type), line.Message, "", atMs);
}

/// <summary>Writes the bridge's log to the host's stderr.</summary>
internal sealed class HostLog : IBridgeLog
{
    public void Info(string message) => Console.Error.WriteLine(message);

    public void Warn(string message) => Console.Error.WriteLine("warning: " + message);
}
