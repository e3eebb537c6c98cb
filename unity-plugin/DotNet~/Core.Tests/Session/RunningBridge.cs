#nullable enable
using System;
using System.Collections.Concurrent;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>The whole bridge over an Editor of memory: real ledger, real endpoint files, real sockets.</summary>
internal sealed class RunningBridge : IDisposable
{
    public const string Token = "c29tZS10b2tlbi1vZi0yNC1ieXRlcw";

    private readonly TestFolder folder = new();
    private readonly ISessionStore store;
    private readonly Type[] tools;

    /// <param name="tools">Those of the project, beside the bridge's own.</param>
    /// <param name="listens">False where something keeps it from its start; null where that does not matter.</param>
    public RunningBridge(
        Action<BridgeOptions>? change = null,
        IClock? clock = null,
        ISessionStore? store = null,
        Type[]? tools = null,
        bool? listens = true,
        InMemoryEditor? editor = null)
    {
        this.tools = tools ?? [];
        Editor = editor ?? new InMemoryEditor(clock: clock ?? new StopwatchClock());
        this.store = store ?? new InMemorySession();
        Options = new BridgeOptions { StateFolder = Path.Combine(folder.Path, "state"), Port = 0, Token = Token, StopMs = 20_000 };
        change?.Invoke(Options);
        Controller = Started(listens);
    }

    public BridgeOptions Options { get; }

    public InMemoryEditor Editor { get; }

    public WireLog Log { get; } = new();

    public McpServerController Controller { get; private set; }

    /// <summary>What the last start took: time that passed, what the main thread computed, what all threads did.</summary>
    public (double Ms, double MainThreadMs, double ProcessorMs) StartTook { get; private set; }

    public int Port => Controller.Status().Port;

    /// <summary>The one with the token, and the project's.</summary>
    public string[] EndpointFiles =>
    [
        Path.Combine(Options.StateFolder, "editors", Controller.Status().EditorId + ".json"),
        Path.Combine(Editor.Info.ProjectPath, "Library", "JobBroker", "endpoint.json"),
    ];

    public string EndpointFile => Directory.GetFiles(Path.Combine(Options.StateFolder, "editors")).Single();

    public WireClient Connect() => new(Port);

    /// <summary>A connection that has proven to hold the token and sits in the worker's seat.</summary>
    public WireClient Owner(int epoch = 1, string storeId = "store-1")
    {
        var owner = Connect();
        var answer = Enter(owner, "bridge/hello", Hello(epoch, storeId));
        Assert.Null(answer["error"]);
        return owner;
    }

    public static JObject Hello(int epoch = 1, string storeId = "store-1") => new()
    {
        ["protocol"] = 1,
        ["storeId"] = storeId,
        ["brokerId"] = "broker",
        ["workerId"] = "worker",
        ["version"] = "1",
        ["epoch"] = epoch,
        ["ownerNonce"] = "owner-" + epoch,
    };

    /// <summary>Asks, checks the Editor's proof, gives the worker's, and answers what that is answered.</summary>
    public JObject Enter(WireClient client, string method, JObject asked, string token = Token) =>
        Enter(client, Port, method, asked, token);

    public static JObject Enter(WireClient client, int port, string method, JObject asked, string token = Token)
    {
        var challenge = Challenged(client, port, method, asked);
        client.Request(2, "bridge/prove", new JObject { ["proof"] = EditorProof.Of(EditorProof.Worker, token, challenge) });
        return client.Answer(2);
    }

    /// <summary>Asks, and checks the Editor's proof.</summary>
    public Challenge Challenged(WireClient client, string method, JObject asked) =>
        Challenged(client, Port, method, asked);

    private static Challenge Challenged(WireClient client, int port, string method, JObject asked)
    {
        var nonce = EditorProof.NewNonce();
        client.Request(1, method, new JObject(asked) { ["nonce"] = nonce });
        var answer = client.Answer(1)["result"]!;
        var challenge = new Challenge(nonce, (string)answer["nonce"]!, $"127.0.0.1:{port}");
        Assert.Equal(EditorProof.Of(EditorProof.Editor, Token, challenge), (string)answer["proof"]!);
        return challenge;
    }

    /// <summary>The end of the script domain, and the next one.</summary>
    public void Reload(bool? listens = true)
    {
        Assert.True(Controller.BeforeReload());
        Controller = Started(listens);
    }

    public void Dispose()
    {
        Controller.Quit();
        Editor.Dispose();
        folder.Dispose();
    }

    private McpServerController Started(bool? listens)
    {
        var ports = new BridgePorts
        {
            Services = Editor.Services,
            SessionStore = store,
            Log = Log,
        };
        var cost = new StartCost();
        var controller = new McpServerController(ports, Options, tools);
        controller.Start();
        StartTook = (cost.Milliseconds, cost.MainThreadMs, cost.ProcessorMs);
        Assert.True(listens == null || controller.IsRunning == listens, controller.Status().LastError);
        return controller;
    }

    private sealed class StopwatchClock : IClock
    {
        private readonly System.Diagnostics.Stopwatch elapsed = System.Diagnostics.Stopwatch.StartNew();

        public long NowMs => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

        public long ElapsedMs => elapsed.ElapsedMilliseconds;
    }
}

internal sealed class InMemorySession : ISessionStore
{
    private readonly ConcurrentDictionary<string, string> values = new();

    public string? Get(string key) => values.TryGetValue(key, out var value) ? value : null;

    public void Set(string key, string? value)
    {
        if (value == null) values.TryRemove(key, out _);
        else values[key] = value;
    }
}
