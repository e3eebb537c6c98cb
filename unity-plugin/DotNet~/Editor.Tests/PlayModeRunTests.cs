#nullable enable
using System;
using System.IO;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEditor.TestTools.TestRunner.Api;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>A PlayMode run: play mode left before it ends, and the project's own settings back whatever happens.</summary>
public sealed class PlayModeRunTests : ITestRunListener, IDisposable
{
    private static readonly TestNode Tree = new("Game", new TestNode("Game.Jumps"));

    private readonly StubbedEditor editor = new();
    private readonly UnitySessionStore store = new();

    private string Marker => Path.Combine(editor.Project, "Library", "JobBroker", "enter-play-mode-options.txt");

    public void Dispose() => Directory.Delete(editor.Project, true);

    [Fact]
    public async Task It_ends_when_play_mode_has_been_left()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(), this, default);
        EditorApplication.isPlaying = true;
        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        tests.Tick();
        Assert.False(running.IsCompleted, "the framework has let its job go, and the Editor plays");
        EditorApplication.isPlaying = false;
        StubEditor.IsChangingPlayMode = true;
        tests.Tick();
        Assert.False(running.IsCompleted, "scenes are restored when play mode has been left");
        StubEditor.IsChangingPlayMode = false;
        tests.Tick();
        await running;
    }

    [Fact]
    public async Task With_a_test_framework_of_1_1_a_reload_on_the_way_into_play_mode_ends_its_job_and_not_the_run()
    {
        StubEditor.HasOldTestFramework = true;
        var before = Domain();
        _ = before.RunAsync(Request(), this, default);
        before.Dispose();
        StubEditor.EndTestJobs();
        EditorApplication.isPlaying = true;

        var after = Domain();
        var running = after.AttachAsync(Request(), this, default)!;
        editor.Clock.ElapsedMs += 3_600_000;
        after.Tick();
        Assert.False(running.IsCompleted);
        StubbedEditor.Notify(one => one.RunFinished(new TestEnd(Tree, TestStatus.Passed)));
        after.Tick();
        Assert.False(running.IsCompleted);
        EditorApplication.isPlaying = false;
        after.Tick();
        await running;
    }

    [Fact]
    public async Task A_person_who_stops_play_mode_ends_it()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(), this, default);
        EditorApplication.isPlaying = true;
        tests.Tick();
        StubEditor.EndTestJobs();
        EditorApplication.isPlaying = false;
        editor.Clock.ElapsedMs += 10_000;
        tests.Tick();
        var error = await Assert.ThrowsAsync<InvalidOperationException>(() => running);
        Assert.Contains("a person has ended the run", error.Message);
    }

    [Fact]
    public void The_projects_own_choice_of_a_domain_reload_is_kept_unless_the_call_disables_it()
    {
        var tests = Domain();
        _ = tests.RunAsync(Request(), this, default);
        Assert.False(EditorSettings.enterPlayModeOptionsEnabled);
        Assert.False(File.Exists(Marker));
    }

    [Theory]
    [InlineData(true, EnterPlayModeOptions.DisableSceneReload, EnterPlayModeOptions.DisableDomainReload | EnterPlayModeOptions.DisableSceneReload)]
    [InlineData(false, EnterPlayModeOptions.DisableSceneReload, EnterPlayModeOptions.DisableDomainReload)]
    [InlineData(true, EnterPlayModeOptions.None, EnterPlayModeOptions.DisableDomainReload)]
    public void Disabled_it_comes_back_with_the_end_of_the_run(bool enabled, EnterPlayModeOptions own, EnterPlayModeOptions during)
    {
        Own(enabled, own);
        var before = Domain();
        _ = before.RunAsync(Request(true), this, default);
        Assert.Equal((true, during), Set);
        before.Dispose();

        var after = Domain();
        after.Recover();
        Assert.Equal((true, during), Set);
        _ = after.AttachAsync(Request(true), this, default);
        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();
        Assert.Equal((enabled, own), Set);
        Assert.False(File.Exists(Marker));
    }

    [Fact]
    public void After_a_crash_of_the_Editor_it_comes_back_at_the_next_start_of_the_bridge()
    {
        Own(true, EnterPlayModeOptions.DisableSceneReload);
        _ = Domain().RunAsync(Request(true), this, default);
        // Settings that were saved in mid-run outlive the process, the session store does not.
        StubEditor.Session.Clear();

        var next = Domain();
        next.Recover();
        Assert.Equal((true, EnterPlayModeOptions.DisableSceneReload), Set);
        Assert.False(File.Exists(Marker));
    }

    [Fact]
    public void What_a_person_has_chosen_since_is_left_as_it_is()
    {
        _ = Domain().RunAsync(Request(true), this, default);
        StubEditor.Session.Clear();
        Own(true, EnterPlayModeOptions.DisableSceneReload);
        Domain().Recover();
        Assert.Equal((true, EnterPlayModeOptions.DisableSceneReload), Set);
        Assert.False(File.Exists(Marker));
    }

    [Fact]
    public void Where_it_cannot_be_kept_nothing_is_changed_and_nothing_runs()
    {
        File.WriteAllText(Path.Combine(editor.Project, "Library"), "a file where the folder should be");
        var refused = Assert.Throws<ToolException>(() => { _ = Domain().RunAsync(Request(true), this, default); });
        Assert.Contains("ReloadDomain: keep", refused.Message);
        Assert.False(EditorSettings.enterPlayModeOptionsEnabled);
        Assert.Empty(StubEditor.TestRuns);
    }

    void ITestRunListener.Started(int totalCases)
    {
    }

    void ITestRunListener.Finished(TestCaseResult testCase)
    {
    }

    private static (bool, EnterPlayModeOptions) Set =>
        (EditorSettings.enterPlayModeOptionsEnabled, EditorSettings.enterPlayModeOptions);

    private static void Own(bool enabled, EnterPlayModeOptions options)
    {
        EditorSettings.enterPlayModeOptionsEnabled = enabled;
        EditorSettings.enterPlayModeOptions = options;
    }

    private static TestRunRequest Request(bool disablesDomainReload = false) =>
        new("operation-1", TestPlatform.PlayMode, TestFilterKind.All, "", disablesDomainReload);

    private UnityTests Domain() => new(store, editor.Clock, editor.Project);
}
