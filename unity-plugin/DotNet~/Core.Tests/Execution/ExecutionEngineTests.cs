#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Execution;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Wire;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Execution;

/// <summary>What stands between a queued operation and its tool, and who is woken for its end.</summary>
public sealed class ExecutionEngineTests : IDisposable
{
    private readonly TestFolder folder = new();
    private readonly ManualClock clock = new();
    private readonly CountedWakes mainThread = new();
    private readonly List<string> told = [];
    private readonly OperationLedger ledger;
    private readonly ExecutionEngine engine;
    private string? refusal;

    public ExecutionEngineTests()
    {
        ledger = OperationLedger.Open(new LedgerOptions(folder.Path), clock);
        engine = new ExecutionEngine(
            ledger, new OperationQueue(), new CancellationRegistry(), new ProgressBoard(clock, 250, _ => { }, _ => { }),
            new ResumeRecords(new NoSession()), clock, mainThread, new WireLog(), (method, _) => told.Add(method),
            operation => told.Add(operation.State), () => new JObject(), () => "ready", (_, _) => refusal);
    }

    public void Dispose()
    {
        Assert.True(engine.Stop(5000));
        ledger.Dispose();
        folder.Dispose();
    }

    private void Queue(Func<Task<object?>> run)
    {
        var tool = new RegisteredTool("tool", new Running(run), new McpToolAttribute(), false);
        engine.Queue(ledger.Accepted("op"), tool);
    }

    [Fact]
    public void The_disk_and_the_worker_know_that_it_began_before_the_tool_is_invoked()
    {
        var journal = "";
        string[] before = [];
        Queue(() =>
        {
            using var reader = new StreamReader(File.Open(folder.Journal, FileMode.Open, FileAccess.Read, FileShare.ReadWrite));
            journal = reader.ReadToEnd();
            before = told.ToArray();
            return Task.FromResult<object?>(null);
        });
        engine.Pump();
        Assert.Equal(LedgerState.Running, (string?)JObject.Parse(journal.TrimEnd('\n').Split('\n').Last()[9..])["kind"]);
        Assert.Equal(new[] { "operation/running" }, before);
        Assert.Equal(new[] { "operation/running", LedgerState.Completed }, told);
    }

    [Fact]
    public void What_was_switched_off_while_it_waited_is_never_invoked()
    {
        var invoked = false;
        Queue(() =>
        {
            invoked = true;
            return Task.FromResult<object?>(null);
        });
        refusal = "tool is blocked: it was switched off.";
        engine.Pump();
        Assert.False(invoked);
        Assert.Equal([LedgerState.Failed], told);
        Assert.Equal("security_blocked", ledger.Get("op")!.Outcome!.ErrorType);
    }

    [Fact]
    public void What_ends_at_once_is_settled_by_the_pump_that_began_it()
    {
        Queue(() => Task.FromResult<object?>(null));
        var wakes = mainThread.Wakes;
        engine.Pump();
        Assert.Equal(LedgerState.Completed, ledger.Get("op")!.State);
        Assert.Equal(wakes, mainThread.Wakes);
    }

    [Fact]
    public void What_ends_later_wakes_the_main_thread()
    {
        var end = new TaskCompletionSource<object?>();
        Queue(() => end.Task);
        engine.Pump();
        Assert.Equal(LedgerState.Running, ledger.Get("op")!.State);
        var wakes = mainThread.Wakes;
        end.SetResult(null);
        Assert.Equal(wakes + 1, mainThread.Wakes);
        engine.Pump();
        Assert.Equal(LedgerState.Completed, ledger.Get("op")!.State);
    }

    private sealed class Running(Func<Task<object?>> run) : IUnityTool
    {
        public JObject InputSchema => new() { ["type"] = "object" };

        public Task<object?> ExecuteAsync(JObject arguments, ToolContext context) => run();
    }

    private sealed class CountedWakes : IMainThread
    {
        private int wakes;

        public int Wakes => Volatile.Read(ref wakes);

        public bool IsCurrent => true;

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
