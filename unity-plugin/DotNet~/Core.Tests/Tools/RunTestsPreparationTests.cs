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

    private TickingTool Tool => new(new RunTestsTool(editor.Services), editor);

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

    [Fact]
    public async Task Nothing_changed_on_the_disk_and_the_tests_begin_in_the_same_script_domain()
    {
        var running = call.Run(Tool);
        Assert.Equal(1, editor.Compiler.Refreshes);
        Assert.Single(editor.Tests.Begun);
        editor.Tests.Start(1);
        editor.Tests.Finish("Game.A.One");
        editor.Tests.End();
        Assert.True((bool)(await running)["Success"]!);
    }

    [Fact]
    public async Task Changed_scripts_are_compiled_and_loaded_before_the_tests_begin()
    {
        editor.Compiler.HasChangedScripts = true;
        var cut = call.Run(Tool);
        Assert.True(TestPreparation.IsUnderWay(call.Record), "the reload must find that nothing has begun");
        Assert.Equal("Unity compiles changed scripts", call.Reports[^1].Message);
        editor.Compiler.End(new CompileOutcome(true, [], true));
        editor.Tick(TickingTool.TicksToRest + 10);
        Assert.Empty(editor.Tests.Begun);
        Assert.False(cut.IsCompleted);

        var (after, running) = Reload();
        Assert.Equal(1, editor.Compiler.Refreshes);
        Assert.Single(editor.Tests.Begun);
        Assert.False(TestPreparation.IsUnderWay(after.Record), "from now on a reload must not begin it again");
        editor.Tests.Start(1);
        editor.Tests.Finish("Game.A.One");
        editor.Tests.End();
        Assert.True((bool)((JToken)(await running)!)["Success"]!);
    }

    [Fact]
    public void The_record_is_there_before_Unity_is_asked_to_refresh()
    {
        editor.Compiler.Refreshing = () => Assert.True(TestPreparation.IsUnderWay(call.Record));
        _ = call.Run(Tool);
        Assert.Equal(1, editor.Compiler.Refreshes);
    }

    [Fact]
    public async Task A_reload_behind_the_begin_begins_nothing_again()
    {
        editor.Compiler.HasChangedScripts = true;
        _ = call.Run(Tool);
        var (begun, _) = Reload();
        Assert.Single(editor.Tests.Begun);
        editor.Tests.ForgetListener();
        editor.Tests.ForgetRun();
        var resumed = Tool.ResumeAsync(new JObject(), begun.Record, new ToolCall().Context);
        Assert.Single(editor.Tests.Begun);
        Assert.Equal("domain_reload", (await Assert.ThrowsAsync<ToolException>(() => resumed)).Type);
    }

    [Fact]
    public async Task Changed_scripts_that_do_not_compile_are_told_and_no_test_runs()
    {
        editor.Compiler.HasChangedScripts = true;
        var running = call.Run(Tool);
        editor.Info.Phase = "compiling";
        editor.Tick(5);
        var wrong = new CompilerMessage(true, "Assets/A.cs(3,5): error CS1002: ; expected", "Assets/A.cs", 3, 5);
        editor.Compiler.LastErrors.Add(wrong);
        editor.Info.Phase = "compile_errors";
        editor.Compiler.End(new CompileOutcome(true, [wrong], false));
        editor.Tick(TickingTool.TicksToRest);
        var error = await Assert.ThrowsAsync<ToolException>(() => running);
        Assert.Equal("compile_errors", error.Type);
        Assert.Contains("Assets/A.cs(3,5): error CS1002", error.Message);
        Assert.Empty(editor.Tests.Begun);
    }

    [Fact]
    public void Scripts_that_did_not_compile_are_looked_at_again()
    {
        editor.Info.Phase = "compile_errors";
        editor.Compiler.HasChangedScripts = true;
        _ = call.Run(Tool);
        editor.Compiler.End(new CompileOutcome(true, [], true));
        editor.Info.Phase = "ready";
        Reload();
        Assert.Single(editor.Tests.Begun);
    }

    [Fact]
    public async Task Compiled_scripts_that_Unity_does_not_load_are_no_reason_to_run_the_old_ones()
    {
        editor.Compiler.HasChangedScripts = true;
        var running = call.Run(Tool);
        editor.Compiler.End(new CompileOutcome(true, [], true));
        editor.Tick(TickingTool.TicksToRest);
        Assert.False(running.IsCompleted);
        editor.Clock.ElapsedMs += 30_000;
        editor.Tick();
        var error = await Assert.ThrowsAsync<ToolException>(() => running);
        Assert.Equal("editor_not_ready", error.Type);
        Assert.Contains("not loaded them", error.Message);
        Assert.Empty(editor.Tests.Begun);
    }

    [Fact]
    public void What_Unity_compiles_a_tick_later_is_waited_for()
    {
        var raw = new RunTestsTool(editor.Services);
        _ = call.Run(raw);
        editor.Tick(2);
        editor.Info.Phase = "compiling";
        editor.Tick(5);
        Assert.Empty(editor.Tests.Begun);
        editor.Info.Phase = "ready";
        editor.Tick(TickingTool.TicksToRest);
        Assert.Single(editor.Tests.Begun);
    }

    [Fact]
    public async Task An_Editor_that_never_comes_to_rest_is_said()
    {
        editor.Info.Phase = "importing";
        var running = call.Run(Tool);
        editor.Clock.ElapsedMs += 20 * 60_000;
        editor.Tick();
        Assert.Equal("editor_not_ready", (await Assert.ThrowsAsync<ToolException>(() => running)).Type);
        Assert.Empty(editor.Tests.Begun);
    }

    [Fact]
    public async Task It_can_be_cancelled_while_scripts_compile()
    {
        editor.Compiler.HasChangedScripts = true;
        var running = call.Run(Tool);
        call.Cancel();
        editor.Tick();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
        Assert.Empty(editor.Tests.Begun);
    }

    [Theory]
    [InlineData("playing", "editor_is_playing")]
    [InlineData("ready", "unsaved_scenes")]
    public async Task What_is_refused_changes_nothing(string phase, string type)
    {
        editor.Info.Phase = phase;
        editor.Tests.Unsaved.Add(new UnsavedScene("Level", "Assets/Level.unity"));
        Assert.Equal(type, (await ToolCall.Fails(Tool)).Type);
        Assert.Equal(0, editor.Compiler.Refreshes);
    }

    /// <summary>The tool and its call are gone; the engine hands the record to a new tool.</summary>
    private (ToolCall Call, Task<object?> Running) Reload(object? arguments = null)
    {
        editor.Tests.ForgetListener();
        var record = JToken.Parse(call.Record!.ToString(Formatting.None));
        var after = new ToolCall();
        after.Context.SaveResumeRecord(record);
        return (after, Tool.ResumeAsync(JObject.FromObject(arguments ?? new object()), record, after.Context));
    }
}
