#nullable enable
using System;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEditor.TestTools.TestRunner.Api;
using Xunit;
using static JobBroker.Bridge.Editor.Tests.GameTests;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>Test runs that a domain reload cuts.</summary>
public sealed class TestRunReloadTests
{
    private readonly StubbedEditor editor = new();
    private readonly UnitySessionStore store = new();
    private readonly GameTests game = new();

    [Fact]
    public async Task Goes_on_after_a_domain_reload()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), game, default);
        before.Dispose();
        Assert.Empty(StubEditor.TestCallbacks);

        var after = Domain();
        Assert.True(after.IsRunning);
        Assert.Null(after.AttachAsync(new TestRunRequest("another", TestPlatform.EditMode, TestFilterKind.All, ""), game, default));
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), game, default);
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Falls, TestStatus.Passed)));
        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();

        Assert.NotNull(running);
        await running!;
        Assert.Equal(["Game.Falls Passed "], game.Reported);
        Assert.Null(after.AttachAsync(Request(TestFilterKind.All, ""), game, default));
    }

    [Fact]
    public async Task A_run_that_the_framework_gave_up_after_a_reload_fails_in_the_end()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), game, default);
        before.Dispose();
        StubEditor.EndTestJobs();

        var after = Domain();
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), game, default)!;
        editor.Clock.ElapsedMs += 9_999;
        after.Tick();
        Assert.False(running.IsCompleted);
        editor.Clock.ElapsedMs += 1;
        after.Tick();

        var error = await Assert.ThrowsAsync<InvalidOperationException>(() => running);
        Assert.Contains("domain reload", error.Message);
        Assert.False(after.IsRunning);
    }

    [Fact]
    public void A_persons_PlayMode_run_of_1_1_is_known_after_its_reload_although_it_has_no_job()
    {
        StubEditor.HasOldTestFramework = true;
        var before = Domain();
        StubEditor.BeginTestJob();
        StubbedEditor.Notify(one => one.RunStarted(Tree));
        before.Dispose();
        StubEditor.EndTestJobs();
        EditorApplication.isPlaying = true;

        var after = Domain();
        after.Tick();
        Assert.True(after.IsRunning);
        StubbedEditor.Notify(one => one.RunFinished(new TestEnd(Tree, TestStatus.Passed)));
        EditorApplication.isPlaying = false;
        after.Tick();
        Assert.False(after.IsRunning);
    }

    [Fact]
    public void A_run_of_ours_that_nobody_listens_to_is_watched_to_its_end()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), game, default);
        before.Dispose();

        var after = Domain();
        editor.Clock.ElapsedMs += 60_000;
        after.Tick();
        Assert.True(after.IsRunning);
        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();
        Assert.False(after.IsRunning);
        Assert.Empty(game.Reported);
    }

    [Fact]
    public async Task What_ended_before_the_operation_went_on_after_a_reload_is_told_then()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), game, default);
        before.Dispose();

        var after = Domain();
        StubbedEditor.Notify(one => one.RunStarted(Tree));
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Jumps, TestStatus.Passed)));
        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), game, default)!;
        after.Tick();
        await running;
        Assert.Equal(["started 2", "Game.Jumps Passed "], game.Reported);
    }

    [Fact]
    public async Task With_a_test_framework_of_1_1_a_run_goes_on_after_a_reload_as_long_as_it_takes()
    {
        StubEditor.HasOldTestFramework = true;
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), game, default);
        before.Dispose();

        var after = Domain();
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), game, default)!;
        editor.Clock.ElapsedMs += 3_600_000;
        after.Tick();
        Assert.False(running.IsCompleted, "IsRunActive is false there, but the framework still has the job");
        Assert.Throws<ToolException>(() => { _ = after.RunAsync(Request(TestFilterKind.All, ""), game, default); });

        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();
        await running;
    }

    [Fact]
    public async Task A_reload_during_the_clean_up_loses_no_report()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), game, default);
        StubbedEditor.Notify(one => one.RunFinished(new TestEnd(Tree, TestStatus.Passed)));
        before.Dispose();

        var after = Domain();
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), game, default)!;
        StubEditor.EndTestJobs();
        after.Tick();
        Assert.True(running.IsCompleted);
        await running;
    }

    [Fact]
    public void Script_domains_leave_no_object_of_the_framework_behind()
    {
        for (var generation = 0; generation < 3; generation++)
        {
            var tests = Domain();
            var api = Assert.Single(StubEditor.Assets, one => one is TestRunnerApi);
            Assert.Equal(UnityEngine.HideFlags.HideAndDontSave, api.hideFlags);
            tests.Dispose();
        }
    }

    private UnityTests Domain() => new(store, editor.Clock, editor.Project);
}
