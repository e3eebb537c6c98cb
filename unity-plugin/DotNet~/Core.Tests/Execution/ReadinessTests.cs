#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
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

/// <summary>What changes or tests the project begins only when Unity is ready for it.</summary>
public sealed class ReadinessTests : IDisposable
{
    private readonly TestEngine engine = new(intervalMs: 0);
    private readonly List<string> began = [];

    private IEnumerable<string> Told => engine.Progress.Select(json => $"{json["seq"]} {json["message"]}");

    public void Dispose() => engine.Dispose();

    [Theory]
    [InlineData("compiling", "scripts compile")]
    [InlineData("importing", "assets are imported")]
    [InlineData("changing_play_mode", "play mode changes")]
    [InlineData("testing", "other tests run")]
    [InlineData("building", "a player is built")]
    [InlineData("ready", null)]
    [InlineData("compile_errors", null)]
    [InlineData("playing", null)]
    [InlineData("a word of a later version", null)]
    public void What_changes_the_project_waits_while_Unity_does(string during, string? reason)
    {
        Assert.Equal(reason, Readiness.WaitsFor(during, ToolEffect.Mutating, false));
        Assert.Equal(reason, Readiness.WaitsFor(during, ToolEffect.Idempotent, false));
        Assert.Null(Readiness.WaitsFor(during, ToolEffect.ReadOnly, false));
        Assert.Null(Readiness.WaitsFor(during, ToolEffect.Idempotent, true));
    }

    [Fact]
    public void It_waits_without_having_begun_and_says_for_what()
    {
        engine.Phase = "compiling";
        Queue("edit", ToolEffect.Mutating);
        engine.Pump();
        engine.Pump();
        Assert.Equal(LedgerState.Accepted, engine.Ledger.Get("edit")!.State);
        Assert.Equal(["1 Waits: scripts compile"], Told);
        engine.Phase = "importing";
        engine.Pump();
        Assert.Equal("2 Waits: assets are imported", Told.Last());
        Assert.Empty(began);

        engine.Phase = "ready";
        engine.Pump();
        Assert.Equal(["edit"], began);
        Assert.Equal(LedgerState.Completed, engine.Ledger.Get("edit")!.State);
        Assert.Equal("3 begins", Told.Last());
    }

    [Fact]
    public void It_says_again_that_it_still_waits_and_since_when_and_a_cancellation_ends_that()
    {
        engine.Phase = "importing";
        Queue("edit", ToolEffect.Mutating);
        engine.Pump();
        engine.Clock.NowMs += 4_999;
        engine.Pump();
        Assert.Single(Told);
        engine.Clock.NowMs += 1;
        engine.Pump();
        Assert.Equal("2 Waits: assets are imported", Told.Last());
        engine.Clock.NowMs += 115_000;
        engine.Pump();
        Assert.Equal("3 Waits: assets are imported. It has waited for 2 min and has not begun; it can be cancelled.", Told.Last());

        engine.Queue.Remove("edit");
        engine.Settlement.Settle(engine.Ledger.Get("edit")!, Outcome.Error(LedgerState.Cancelled, "cancelled", "", null, engine.Clock.NowMs));
        engine.Phase = "ready";
        engine.Pump();
        Assert.Empty(began);
    }

    [Fact]
    public void A_read_and_what_waits_for_Unity_itself_are_not_held()
    {
        engine.Phase = "compiling";
        Queue("read", ToolEffect.ReadOnly);
        Queue("compile", ToolEffect.Idempotent, beginsWhileBusy: true);
        engine.Pump();
        Assert.Equal(["read", "compile"], began);
    }

    [Fact]
    public void What_an_operation_made_Unity_do_holds_the_next_one_of_the_same_tick()
    {
        Queue("refresh", ToolEffect.Mutating, then: "compiling");
        Queue("tests", ToolEffect.Idempotent);
        Queue("read behind it", ToolEffect.ReadOnly);
        engine.Pump();
        Assert.Equal(["refresh"], began);
        engine.Phase = "ready";
        engine.Pump();
        Assert.Equal(["refresh", "tests", "read behind it"], began);
    }

    [Fact]
    public void What_a_domain_reload_cut_goes_on_at_once()
    {
        engine.Phase = "compiling";
        var operation = engine.Ledger.Accepted("cut");
        engine.Ledger.Begin(operation);
        engine.Resume(operation, new Noted(began, "cut"));
        engine.Pump();
        Assert.Equal(["cut resumes"], began);
    }

    [Fact]
    public void Of_the_own_tools_only_those_begin_while_Unity_is_busy_that_wait_for_it_or_end_that()
    {
        using var editor = new Tools.InMemory.InMemoryEditor();
        var tools = new UnityToolRegistry(editor.Services, [], report => Assert.Fail(report));
        Assert.Equal(["compile", "control-play-mode"], tools.All().Where(tool => tool.BeginsWhileBusy).Select(tool => tool.Name));
    }

    private void Queue(string id, ToolEffect effect, bool beginsWhileBusy = false, string? then = null)
    {
        var attribute = new McpToolAttribute { Effect = effect, BeginsWhileBusy = beginsWhileBusy };
        var tool = new Noted(began, id, () => engine.Phase = then ?? engine.Phase);
        engine.Accept(id, tool, attribute);
    }

    private sealed class Noted(List<string> began, string name, Action? then = null) : IUnityTool, IResumableTool
    {
        public JObject InputSchema => new() { ["type"] = "object" };

        public Task<object?> ExecuteAsync(JObject arguments, ToolContext context)
        {
            began.Add(name);
            context.Progress.Report(0, message: "begins");
            then?.Invoke();
            return Task.FromResult<object?>(null);
        }

        public Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context)
        {
            began.Add(name + " resumes");
            return Task.FromResult<object?>(null);
        }
    }
}
