#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using JobBroker.Bridge.Execution;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Wire;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Execution;

/// <summary>An engine over a ledger of its own, for a test that is the main thread.</summary>
internal sealed class TestEngine : IDisposable
{
    private readonly ExecutionEngine engine;

    /// <param name="intervalMs">Of the progress that is reported.</param>
    public TestEngine(int intervalMs = 250)
    {
        Ledger = OperationLedger.Open(new LedgerOptions(Folder.Path), Clock);
        var progress = new ProgressBoard(Clock, intervalMs, Progress.Add, _ => { });
        Settlement = new Settlement(Ledger);
        Settlement.Ended += operation => Told.Add(operation.State);
        var calls = new ToolCalls(
            new CancellationRegistry(), progress, new ResumeRecords(new NoSession()), Clock, MainThread, () => new JObject());
        var beginning = new Beginning(Ledger, Settlement, (_, _) => Refusal, operation => Told.Add("begins"), Clock);
        var executor = new Executor(beginning, calls, Settlement);
        var main = new MainLane(Queue, executor, new ReadinessWait(() => Phase, progress, Clock), Clock, MainThread);
        engine = new ExecutionEngine(Queue, main, new BackgroundLane(Queue, executor, _ => { }), calls, Settlement);
    }

    public TestFolder Folder { get; } = new();

    public ManualClock Clock { get; } = new();

    public CountedWakes MainThread { get; } = new();

    public OperationQueue Queue { get; } = new();

    public OperationLedger Ledger { get; }

    public Settlement Settlement { get; }

    /// <summary>The Editor's.</summary>
    public string Phase { get; set; } = "ready";

    /// <summary>Why nothing may run now.</summary>
    public string? Refusal { get; set; }

    /// <summary>"begins" and states of ends, as the worker is told.</summary>
    public List<string> Told { get; } = [];

    public List<JObject> Progress { get; } = [];

    public void Pump() => engine.Pump();

    /// <summary>Accepts an operation and queues it.</summary>
    public void Accept(string id, IUnityTool tool, McpToolAttribute? attribute = null) =>
        engine.Queue(Ledger.Accepted(id), new RegisteredTool("tool", tool, attribute ?? new McpToolAttribute(), false));

    /// <summary>Queues one that began before a domain reload.</summary>
    public void Resume(LedgerOperation operation, IUnityTool tool) =>
        engine.Queue(operation, new RegisteredTool("tool", tool, new McpToolAttribute(), false), resumes: true);

    public void Dispose()
    {
        Assert.True(engine.Stop(5000));
        Ledger.Dispose();
        Folder.Dispose();
    }

    internal sealed class CountedWakes : IMainThread
    {
        private int wakes;

        public int Wakes => Volatile.Read(ref wakes);

        public bool IsCurrent => true;

        public bool CanWake => true;

        public void Wake() => Interlocked.Increment(ref wakes);
    }

    private sealed class NoSession : ISessionStore
    {
        public string? Get(string key) => null;

        public void Set(string key, string? value)
        {
        }
    }
}
