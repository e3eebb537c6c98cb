using System;
using System.Threading.Tasks;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Project;

public sealed class SetBuildTargetToolTests : IDisposable
{
    private const string Profile = "Assets/Settings/Build Profiles/Demo.asset";

    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    private ScriptedBuilds Builds => editor.Builds;

    private SetBuildTargetTool Tool => new(editor.Services);

    [Fact]
    public async Task A_switch_ends_when_Unity_has_imported_and_compiled()
    {
        var running = new ToolCall().Run(Tool, new { BuildTarget = "android" });
        Assert.Equal(["Android"], Builds.Switches);
        editor.Info.Phase = "importing";
        editor.Tick(5);
        editor.Info.Phase = "compiling";
        editor.Tick(5);
        Assert.False(running.IsCompleted);
        editor.Info.Phase = "ready";
        editor.Tick(3);
        var answer = await running;
        Assert.Equal("Android", (string)answer["BuildTarget"]!);
        Assert.True((bool)answer["Changed"]!);
    }

    [Fact]
    public async Task The_reload_that_it_makes_finds_it_and_switches_nothing_again()
    {
        var before = new ToolCall();
        _ = before.Run(Tool, new { BuildTarget = "Android" });
        var resumed = Tool.ResumeAsync(
            new JObject { ["BuildTarget"] = "Android" }, JToken.Parse(before.Record!.ToString()), new ToolCall().Context);
        editor.Tick(3);
        var answer = (JToken)(await resumed)!;
        Assert.True((bool)answer["Changed"]!);
        Assert.Single(Builds.Switches);
        var nothing = await Assert.ThrowsAsync<ToolException>(
            () => Tool.ResumeAsync(new JObject { ["BuildTarget"] = "Android" }, null, new ToolCall().Context));
        Assert.Equal("domain_reload", nothing.Type);
    }

    [Fact]
    public async Task What_is_so_already_changes_nothing()
    {
        var answer = await new ToolCall().Run(Tool, new { BuildTarget = "StandaloneLinux64" });
        Assert.False((bool)answer["Changed"]!);
        Assert.Empty(Builds.Switches);
    }

    [Fact]
    public async Task A_platform_that_Unity_did_not_switch_to_is_no_success()
    {
        Builds.SwitchesAtOnce = false;
        var running = new ToolCall().Run(Tool, new { BuildTarget = "Android" });
        editor.Tick(3);
        var error = await Assert.ThrowsAsync<ToolException>(() => running);
        Assert.Equal("outcome_unknown", error.Type);
        Assert.Contains("at rest on StandaloneLinux64", error.Message);
        Builds.SwitchRefusal = "it is in play mode.";
        Assert.Equal("switch_refused", (await ToolCall.Fails(Tool, new { BuildTarget = "Android" })).Type);
    }

    [Fact]
    public async Task Nothing_is_switched_nor_added_in_play_mode()
    {
        editor.Info.Phase = "playing";
        Assert.Equal("editor_is_playing", (await ToolCall.Fails(Tool, new { BuildTarget = "Android" })).Type);
        var packages = new ManagePackagesTool(editor.Services);
        Assert.Equal("editor_is_playing", (await ToolCall.Fails(packages, new { Action = "Add", Package = "com.studio.new" })).Type);
        Assert.Empty(Builds.Switches);
        Assert.Empty(editor.Packages.Asked);
    }

    [Fact]
    public async Task A_switch_without_an_end_is_unknown()
    {
        var running = new ToolCall().Run(Tool, new { BuildTarget = "Android" });
        editor.Info.Phase = "importing";
        editor.Clock.ElapsedMs += 61 * 60_000;
        editor.Tick();
        Assert.Equal("outcome_unknown", (await Assert.ThrowsAsync<ToolException>(() => running)).Type);
    }

    [Fact]
    public async Task Profiles_are_those_of_Unity_6()
    {
        var old = await ToolCall.Fails(Tool, new { BuildProfile = Profile });
        Assert.Equal("build_profiles_unsupported", old.Type);
        Builds.Profiles = [Profile];
        var other = await ToolCall.Fails(Tool, new { BuildProfile = "Assets/Other.asset" });
        Assert.Equal("build_profile_not_found", other.Type);
        Assert.Contains(Profile, other.Message);

        var running = new ToolCall().Run(Tool, new { BuildProfile = Profile });
        editor.Tick(3);
        Assert.Equal(Profile, (string)(await running)["BuildProfile"]!);
    }

    [Fact]
    public async Task One_of_the_two_is_named()
    {
        Assert.Equal("invalid_arguments", (await ToolCall.Fails(Tool)).Type);
        Assert.Equal("invalid_arguments", (await ToolCall.Fails(Tool, new { BuildTarget = "Android", BuildProfile = Profile })).Type);
        var unknown = await ToolCall.Fails(Tool, new { BuildTarget = "Dreamcast" });
        Assert.Contains("It can build for StandaloneLinux64, Android", unknown.Message);
    }

    [Fact]
    public async Task A_player_is_built_with_the_active_profile_alone()
    {
        var build = new BuildPlayerTool(editor.Services);
        object With(string profile, params string[] scenes) =>
            new { BuildTarget = "StandaloneLinux64", BuildProfile = profile, Scenes = scenes };
        Assert.Equal("build_profiles_unsupported", (await ToolCall.Fails(build, With(Profile))).Type);
        Builds.Profiles = [Profile];
        var other = await ToolCall.Fails(build, With(Profile));
        Assert.Equal("wrong_build_target", other.Type);
        Assert.Contains("The active build profile is none", other.Message);
        Builds.ActiveProfile = Profile;
        Assert.Contains("its own scenes", (await ToolCall.Fails(build, With(Profile, "Assets/A.unity"))).Message);
        Assert.Empty(Builds.Built);
        await new ToolCall().Run(build, With(Profile));
        Assert.Equal(Profile, Assert.Single(Builds.Built).Profile);
    }
}
