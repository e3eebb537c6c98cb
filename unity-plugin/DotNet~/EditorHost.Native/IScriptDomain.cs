namespace JobBroker.EditorHost.Native;

/// <summary>The options of the host.</summary>
public sealed record HostSettings
{
    public required string StateFolder { get; init; }

    public string? EndpointFolder { get; init; }

    public string? LedgerFolder { get; init; }

    public string? EditorId { get; init; }

    public string? Token { get; init; }

    public int? Port { get; init; }

    public int HeartbeatMs { get; init; } = 1000;

    public int ProgressIntervalMs { get; init; } = 250;

    public int MaxFrameBytes { get; init; } = 1024 * 1024;

    public int InlineResultBytes { get; init; } = 1024 * 1024;

    public int ForeignSilenceMs { get; init; } = 60_000;

    public long ForgetAfterMs { get; init; } = 24L * 3600 * 1000;

    public int KeepOperations { get; init; } = 1000;

    public bool PlainSurface { get; init; }

    public int StrangerMs { get; init; } = 2000;
}

/// <summary>
/// The script domain as the native side sees it: only types that both share. Main thread, but for <see cref="Status"/>.
/// </summary>
public interface IScriptDomain
{
    bool IsListening { get; }

    int Port { get; }

    string EditorId { get; }

    string? LastError { get; }

    void Pump();

    /// <summary>False when a thread of the bridge did not end in time.</summary>
    bool BeforeReload();

    bool Quit();

    /// <summary>The bridge as it is now, as JSON text.</summary>
    string Status();

    /// <summary>A person clicks Start.</summary>
    void Start();

    void HandOver();

    void DropConnections();

    /// <summary>Fault: the ledger's disk refuses every line.</summary>
    void BreakLedger(bool broken);

    /// <summary>Fault: every flush takes so long.</summary>
    void SlowDisk(int milliseconds);

    void AddTool(string name, bool isForDevelopment);

    void RemoveTool(string name);
}
