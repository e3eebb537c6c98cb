using System.Reflection;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tools;
using JobBroker.EditorHost.Domain.Scenes;
using JobBroker.EditorHost.Native;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.EditorHost.Domain;

/// <summary>One script domain: the real Core over this host's adapter. Found by name from the native side.</summary>
public sealed class ScriptDomain : IScriptDomain
{
    private readonly NativeEditor native;
    private readonly DomainContext context;
    private readonly McpServerController controller;
    private readonly TickWaits ticks = new(new HostClock());
    private readonly LedgerDisk disk;

    public ScriptDomain(NativeEditor native, HostSettings settings, Action reload)
    {
        this.native = native;
        context = new DomainContext(native);
        SynchronizationContext.SetSynchronizationContext(context);
        var effects = new Effects(native, () => controller?.Status().RunningOperation?.OperationId ?? "nobody");
        var scenes = new HostScenes(native.Scenes);
        var ports = new BridgePorts
        {
            Services = new ToolServices
            {
                Clock = new HostClock(),
                MainThread = new HostMainThread(native),
                Editor = new HostEditorInfo(native),
                Console = new HostConsole(native),
                Menu = new HostMenu(native, effects),
                Compiler = new HostCompiler(native, effects, reload),
                Tests = new HostTests(native, effects, reload),
                Scene = scenes,
                SceneFiles = scenes,
                Objects = new HostObjects(native.Scenes, scenes),
                Search = new HostSearch(),
                Builds = new HostBuilds(native, effects, reload),
                Code = new HostCode(),
                PlayMode = new HostPlayMode(native, effects, reload),
                State = new HostState(native),
                Screen = new HostScreen(native),
                Assets = new HostAssets(native, effects),
                Packages = new HostPackages(native, effects, reload),
                Ticks = ticks,
                Security = new HostSecurity(native),
            },
            SessionStore = new HostSessionStore(native),
            Log = new HostLog(),
            PackageOf = _ => native.ToolPackage,
        };
        controller = new McpServerController(ports, OptionsOf(settings), []);
        disk = new LedgerDisk(() => controller.Ledger?.Folder);
        controller.StartIfWanted(true);
        foreach (var (name, isForDevelopment) in native.ExtraTools) Register(name, isForDevelopment);
    }

    public bool IsListening => controller.IsRunning;

    public int Port => controller.Status().Port;

    public string EditorId => controller.Status().EditorId;

    public string? LastError => controller.Status().LastError;

    public void Pump()
    {
        ticks.Tick();
        controller.Pump();
    }

    public bool BeforeReload()
    {
        disk.EndDelays();
        var inTime = controller.BeforeReload();
        disk.Dispose();
        context.End();
        return inTime;
    }

    public bool Quit()
    {
        disk.EndDelays();
        return controller.Quit();
    }

    public string Status()
    {
        var status = controller.Status();
        var ledger = controller.Ledger;
        return new JObject
        {
            ["listening"] = status.Running,
            ["lastError"] = status.LastError,
            ["editorId"] = status.EditorId,
            ["editorSessionId"] = status.EditorSessionId,
            ["generation"] = status.Generation,
            ["port"] = status.Port,
            ["phase"] = status.Phase,
            ["ledgerId"] = status.LedgerId,
            ["ledgerSeq"] = status.LedgerSeq,
            ["workerConnected"] = status.WorkerConnected,
            ["clients"] = ClientsOf(status.McpClients),
            ["bridgeStallMs"] = status.StallMs,
            ["open"] = ledger == null ? new JArray() : StatesOf(ledger.Open()),
            ["unacknowledged"] = ledger == null ? new JArray() : StatesOf(ledger.Unacknowledged()),
        }.ToString(Formatting.None);
    }

    private static JObject ClientsOf(ClientReport report) => new()
    {
        ["clients"] = new JArray(report.Clients.Select(ClientOf)),
        ["total"] = report.Total,
    };

    private static JObject ClientOf(ReportedClient client)
    {
        var json = new JObject { ["name"] = client.Name, ["version"] = client.Version, ["transport"] = client.Transport };
        if (client.Runs != null) json["runs"] = client.Runs;
        if (client.Waits > 0) json["waits"] = client.Waits;
        return json;
    }

    public void Start() => controller.Start();

    public void HandOver() => controller.HandOver();

    public void DropConnections() => controller.DropConnections();

    public void BreakLedger(bool broken) => disk.IsBroken = broken;

    public void SlowDisk(int milliseconds) => disk.FlushMs = milliseconds;

    public void AddTool(string name, bool isForDevelopment)
    {
        native.ExtraTools[name] = isForDevelopment;
        Register(name, isForDevelopment);
    }

    public void RemoveTool(string name)
    {
        native.ExtraTools.TryRemove(name, out _);
        controller.Tools?.Unregister(name);
    }

    private void Register(string name, bool isForDevelopment) => controller.Tools?.Register(new EchoTool(name), new McpToolAttribute
    {
        Name = name,
        Description = $"Answers {name} and the text that it was given.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick,
        DisplayDevelopmentOnly = isForDevelopment,
    });

    private static BridgeOptions OptionsOf(HostSettings settings) => new()
    {
        StateFolder = settings.StateFolder,
        EndpointFolder = settings.EndpointFolder,
        LedgerFolder = settings.LedgerFolder,
        EditorId = settings.EditorId,
        Token = settings.Token,
        Port = settings.Port,
        HeartbeatMs = settings.HeartbeatMs,
        ProgressIntervalMs = settings.ProgressIntervalMs,
        MaxFrameBytes = settings.MaxFrameBytes,
        InlineResultBytes = settings.InlineResultBytes,
        ForeignSilenceMs = settings.ForeignSilenceMs,
        ForgetAfterMs = settings.ForgetAfterMs,
        KeepOperations = settings.KeepOperations,
        PlainSurface = settings.PlainSurface,
        StrangerMs = settings.StrangerMs,
    };

    private static JArray StatesOf(IEnumerable<Bridge.Ledger.LedgerOperation> operations) =>
        new(operations.Select(operation => new JObject
        {
            ["operationId"] = operation.OperationId,
            ["state"] = operation.State,
            ["tool"] = operation.Tool,
        }));
}
