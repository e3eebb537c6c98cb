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
    private readonly TestEngine engine = new();

    public void Dispose() => engine.Dispose();

    private void Queue(Func<Task<object?>> run) => engine.Accept("op", new Running(run));

    [Fact]
    public void The_disk_and_the_worker_know_that_it_began_before_the_tool_is_invoked()
    {
        var journal = "";
        string[] before = [];
        Queue(() =>
        {
            using var reader = new StreamReader(File.Open(engine.Folder.Journal, FileMode.Open, FileAccess.Read, FileShare.ReadWrite));
            journal = reader.ReadToEnd();
            before = engine.Told.ToArray();
            return Task.FromResult<object?>(null);
        });
        engine.Pump();
        Assert.Equal(LedgerState.Running, (string?)JObject.Parse(journal.TrimEnd('\n').Split('\n').Last()[9..])["kind"]);
        Assert.Equal(new[] { "begins" }, before);
        Assert.Equal(new[] { "begins", LedgerState.Completed }, engine.Told);
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
        engine.Refusal = "tool is blocked: it was switched off.";
        engine.Pump();
        Assert.False(invoked);
        Assert.Equal([LedgerState.Failed], engine.Told);
        Assert.Equal("security_blocked", engine.Ledger.Get("op")!.Outcome!.ErrorType);
    }

    public sealed class Counted
    {
        public int Count { get; set; }
    }

    private sealed class CountingTool : AbstractUnityTool<Counted, Counted>
    {
        public int Invoked { get; private set; }

        protected override Task<Counted> ExecuteAsync(Counted parameters, ToolContext context)
        {
            Invoked++;
            return Task.FromResult(parameters);
        }
    }

    [Fact]
    public void Arguments_that_do_not_fit_are_refused_before_it_begins()
    {
        var tool = new CountingTool();
        // With a Path, which it does not have.
        engine.Accept("op", tool);
        engine.Pump();
        Assert.Equal(0, tool.Invoked);
        Assert.Equal([LedgerState.Failed], engine.Told);
        var outcome = engine.Ledger.Get("op")!.Outcome!;
        Assert.Equal("invalid_arguments", outcome.ErrorType);
        Assert.Null(outcome.StartedAt);
    }

    [Fact]
    public void What_ends_at_once_is_settled_by_the_pump_that_began_it()
    {
        Queue(() => Task.FromResult<object?>(null));
        var wakes = engine.MainThread.Wakes;
        engine.Pump();
        Assert.Equal(LedgerState.Completed, engine.Ledger.Get("op")!.State);
        Assert.Equal(wakes, engine.MainThread.Wakes);
    }

    [Fact]
    public void What_ends_later_wakes_the_main_thread()
    {
        var end = new TaskCompletionSource<object?>();
        Queue(() => end.Task);
        engine.Pump();
        Assert.Equal(LedgerState.Running, engine.Ledger.Get("op")!.State);
        var wakes = engine.MainThread.Wakes;
        end.SetResult(null);
        Assert.Equal(wakes + 1, engine.MainThread.Wakes);
        engine.Pump();
        Assert.Equal(LedgerState.Completed, engine.Ledger.Get("op")!.State);
    }

    private sealed class Running(Func<Task<object?>> run) : IUnityTool
    {
        public JObject InputSchema => new() { ["type"] = "object" };

        public Task<object?> ExecuteAsync(JObject arguments, ToolContext context) => run();
    }
}
