using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class ControlPlayModeToolTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    private ControlPlayModeTool Tool => new(editor.Services);

    private Task<JToken> Run(string action, ToolCall? call = null) => (call ?? new ToolCall()).Run(Tool, new { Action = action });

    private async Task Plays()
    {
        var running = Run("Enter");
        editor.PlayMode.Arrive();
        await running;
    }

    [Fact]
    public async Task Enter_ends_when_Unity_has_arrived_and_not_before()
    {
        editor.State.Open.Add(new OpenScene { Name = "Level", Path = "Assets/Level.unity", IsDirty = true });
        var running = Run("Enter");
        Assert.Equal(PlayModePhase.Entering, editor.PlayMode.State.Phase);
        Assert.False(running.IsCompleted);
        editor.PlayMode.Arrive();
        var answer = await running;
        Assert.Equal("Playing", (string?)answer["State"]);
        Assert.True((bool)answer["Changed"]!);
        Assert.Equal(new[] { "Assets/Level.unity" }, answer["UnsavedScenes"]!.Values<string>());

        var again = await Run("Enter");
        Assert.False((bool)again["Changed"]!);
        Assert.Null(again["UnsavedScenes"]);
        Assert.Equal(new[] { "enter" }, editor.PlayMode.Asked);
    }

    [Fact]
    public async Task Behind_a_reload_it_waits_on_and_asks_for_nothing_again()
    {
        var call = new ToolCall();
        _ = Run("Enter", call);
        var resumed = Tool.ResumeAsync(new JObject { ["Action"] = "Enter" }, JToken.Parse(call.Record!.ToString()), new ToolCall().Context);
        Assert.False(resumed.IsCompleted);
        editor.PlayMode.Arrive();
        var answer = (JToken)(await resumed)!;
        Assert.Equal(("Playing", true), ((string?)answer["State"], (bool)answer["Changed"]!));
        Assert.Equal(new[] { "enter" }, editor.PlayMode.Asked);
    }

    [Fact]
    public async Task What_Unity_gave_up_behind_a_reload_is_not_asked_for_again()
    {
        var call = new ToolCall();
        _ = Run("Enter", call);
        var resumed = Tool.ResumeAsync(new JObject { ["Action"] = "Enter" }, call.Record, new ToolCall().Context);
        editor.PlayMode.GiveUp();
        Assert.Equal("play_mode_refused", (await Assert.ThrowsAsync<ToolException>(() => resumed)).Type);
        Assert.Equal(new[] { "enter" }, editor.PlayMode.Asked);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_change_of_somebody_else_comes_first_also_over_a_reload(bool isCut)
    {
        editor.PlayMode.Begin(true);
        var call = new ToolCall();
        var exit = new JObject { ["Action"] = "Exit" };
        var running = isCut ? Tool.ResumeAsync(exit, null, call.Context) : Tool.ExecuteAsync(exit, call.Context);
        Assert.Null(call.Record);
        Assert.Empty(editor.PlayMode.Asked);
        editor.PlayMode.Arrive();
        Assert.Equal(new[] { "exit" }, editor.PlayMode.Asked);
        Assert.NotNull(call.Record);
        editor.PlayMode.Arrive();
        Assert.Equal("Edit", (string?)ToolJson.From(await running)["State"]);
    }

    [Fact]
    public async Task What_is_neither_entered_nor_left_is_not_resumed()
    {
        foreach (var action in new[] { "Pause", "Resume", "Step", "State" })
        {
            var error = await Assert.ThrowsAsync<ToolException>(
                () => Tool.ResumeAsync(new JObject { ["Action"] = action }, null, new ToolCall().Context));
            Assert.Equal("domain_reload", error.Type);
        }
        Assert.Empty(editor.PlayMode.Asked);
    }

    [Fact]
    public async Task What_Unity_gives_up_fails()
    {
        var running = Run("Enter");
        editor.PlayMode.GiveUp();
        Assert.Equal("play_mode_refused", (await Assert.ThrowsAsync<ToolException>(() => running)).Type);
    }

    [Fact]
    public async Task It_plays_nothing_that_does_not_compile()
    {
        editor.Info.Phase = "compile_errors";
        Assert.Equal("compile_errors", (await ToolCall.Fails(Tool, new { Action = "Enter" })).Type);
        Assert.Empty(editor.PlayMode.Asked);
    }

    [Fact]
    public async Task While_Unity_compiles_it_is_not_given_up()
    {
        var running = Run("Enter");
        editor.Info.Phase = "compiling";
        editor.PlayMode.GiveUp();
        Assert.False(running.IsCompleted);
        editor.Info.Phase = "ready";
        editor.PlayMode.GiveUp();
        await Assert.ThrowsAsync<ToolException>(() => running);
    }

    [Fact]
    public async Task Pause_step_and_resume_need_play_mode()
    {
        foreach (var action in new[] { "Pause", "Resume", "Step" })
        {
            Assert.Equal("not_playing", (await ToolCall.Fails(Tool, new { Action = action })).Type);
        }
        Assert.Empty(editor.PlayMode.Asked);

        await Plays();
        Assert.Equal("Paused", (string?)(await Run("Pause"))["State"]);
        Assert.False((bool)(await Run("Pause"))["Changed"]!);
        var step = new ToolCall().Run(Tool, new { Action = "Step", ToFrame = 2 });
        editor.PlayMode.Played(1);
        Assert.False(step.IsCompleted);
        editor.PlayMode.Played(1);
        Assert.Equal(2, (int)(await step)["Frame"]!);
        Assert.Equal("Playing", (string?)(await Run("Resume"))["State"]);
        Assert.Equal(new[] { "enter", "pause", "step", "step", "resume" }, editor.PlayMode.Asked);
    }

    [Fact]
    public async Task A_step_that_was_played_already_plays_nothing()
    {
        await Plays();
        editor.PlayMode.Played(5);
        var again = await new ToolCall().Run(Tool, new { Action = "Step", ToFrame = 5 });
        Assert.Equal((5, false), ((int)again["Frame"]!, (bool)again["Changed"]!));
        Assert.Contains("it is frame 5", (await ToolCall.Fails(Tool, new { Action = "Step" })).Message);
        Assert.Equal("invalid_arguments", (await ToolCall.Fails(Tool, new { Action = "Step", ToFrame = 5000 })).Type);
        Assert.DoesNotContain("step", editor.PlayMode.Asked);
    }

    [Fact]
    public async Task State_only_reads()
    {
        var answer = await Run("State");
        Assert.Equal("Edit", (string?)answer["State"]);
        Assert.Null(answer["Frame"]);
        Assert.Empty(editor.PlayMode.Asked);
    }

    [Theory]
    [InlineData("{\"Action\":\"State\"}", true)]
    [InlineData("{\"action\":\"State\"}", true)]
    [InlineData("{\"Action\":\"State\",\"action\":\"Enter\"}", false)]
    [InlineData("{\"Action\":\"Enter\"}", false)]
    [InlineData("{\"Action\":5}", false)]
    [InlineData("{}", false)]
    public void Only_the_reading_action_needs_no_permission(string arguments, bool reads) =>
        Assert.Equal(reads, ControlPlayModeTool.OnlyReads(JObject.Parse(arguments)));
}
