#nullable enable
using System;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>What run-tests does before its tests begin, and that a domain reload begins them once.</summary>
public sealed class RunTestsPreparationTests : IDisposable
{
    private readonly InMemoryEditor editor = new();
    private readonly ToolCall call = new();

    public void Dispose() => editor.Dispose();

    private RunTestsTool Tool => new(editor.Services);

    [Fact]
    public async Task An_expression_becomes_the_names_of_the_tests_that_it_means()
    {
        var running = call.Run(Tool, new { FilterType = "regex", FilterValue = "^Game" });
        var begun = Assert.Single(editor.Tests.Begun);
        Assert.Equal(["Game.A.One", "Game.A.Two", "Game.B.Three", "Game.B.Four"], begun.Picked!.Names);
        editor.Tests.Start(0);
        editor.Tests.Finish("Game.A.One");
        Assert.Equal(4, (int)call.LastPartial!["total"]!);
        editor.Tests.End();
        Assert.Equal("Only 1 of 4 tests reported their result.", (string?)(await running)["Message"]);
    }

    [Fact]
    public async Task An_expression_that_means_no_test_begins_nothing()
    {
        var answer = await call.Run(Tool, new { FilterType = "category", FilterValue = "slow" });
        Assert.Equal("No test fits; see TestMode and the filter.", (string?)answer["Message"]);
        Assert.Equal((0, false), ((int)answer["total"]!, (bool)answer["Success"]!));
        Assert.Empty(editor.Tests.Begun);
    }

    [Fact]
    public async Task A_hostile_expression_holds_nobody_and_begins_nothing()
    {
        editor.Tests.Tree = ScriptedTestRunner.TreeOf(new string('a', 60) + "!");
        var error = await ToolCall.Fails(Tool, new { FilterType = "regex", FilterValue = "^(a+)+$" });
        Assert.Equal("invalid_arguments", error.Type);
        Assert.Contains("write a simpler regular expression", error.Message);
        Assert.Empty(editor.Tests.Begun);
    }

    [Fact]
    public void A_domain_reload_while_the_tests_are_listed_begins_them_once()
    {
        editor.Tests.Listing = new TaskCompletionSource<TestTreeNode>();
        _ = call.Run(Tool, new { FilterType = "regex", FilterValue = "One" });
        editor.Tick();
        Assert.Empty(editor.Tests.Begun);

        editor.Tests.Listing = null;
        var (_, running) = Reload(new { FilterType = "regex", FilterValue = "One" });
        Assert.Equal(["Game.A.One"], Assert.Single(editor.Tests.Begun).Picked!.Names);
        Assert.False(running.IsCompleted);
    }

    [Fact]
    public async Task A_list_that_never_comes_is_said()
    {
        editor.Tests.Listing = new TaskCompletionSource<TestTreeNode>();
        var running = call.Run(Tool, new { FilterType = "regex", FilterValue = "One" });
        editor.Clock.ElapsedMs += 119_999;
        editor.Tick();
        Assert.False(running.IsCompleted);
        editor.Clock.ElapsedMs += 1;
        editor.Tick();
        var error = await Assert.ThrowsAsync<ToolException>(() => running);
        Assert.Equal("test_run_failed", error.Type);
        Assert.Contains("not answered within 120 s", error.Message);
    }

    [Fact]
    public async Task It_can_be_cancelled_while_the_tests_are_listed()
    {
        editor.Tests.Listing = new TaskCompletionSource<TestTreeNode>();
        var running = call.Run(Tool, new { FilterType = "regex", FilterValue = "One" });
        call.Cancel();
        editor.Tick();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
        Assert.Empty(editor.Tests.Begun);
    }

    /// <summary>The tool and its call are gone; the engine hands the record to a new tool.</summary>
    private (ToolCall Call, Task<object?> Running) Reload(object? arguments = null)
    {
        editor.Tests.ForgetListener();
        var record = JToken.Parse(call.Record!.ToString(Formatting.None));
        var after = new ToolCall();
        return (after, Tool.ResumeAsync(JObject.FromObject(arguments ?? new object()), record, after.Context));
    }
}
