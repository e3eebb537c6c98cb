#nullable enable
using System;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor.TestTools.TestRunner.Api;
using Xunit;
using static JobBroker.Bridge.Editor.Tests.GameTests;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>Test runs of one script domain: ours, and those of people.</summary>
public sealed class UnityTestsTests
{
    private readonly StubbedEditor editor = new();
    private readonly UnitySessionStore store = new();
    private readonly GameTests game = new();

    [Fact]
    public async Task Tells_each_test_as_it_ends_and_ends_with_the_runs_clean_up()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), game, default);
        Assert.True(tests.IsRunning);
        StubbedEditor.Notify(one => one.RunStarted(Tree));
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Jumps, TestStatus.Passed)));
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Falls, TestStatus.Failed, "fell")));
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Tree, TestStatus.Failed)));
        Assert.False(running.IsCompleted);
        StubbedEditor.Notify(one => one.RunFinished(new TestEnd(Tree, TestStatus.Failed)));
        tests.Tick();
        Assert.False(running.IsCompleted, "the framework still restores the scenes, and would refuse another run");
        Assert.True(tests.IsRunning);
        StubEditor.EndTestJobs();
        tests.Tick();

        Assert.True(running.IsCompleted);
        await running;
        Assert.Equal(["started 2", "Game.Jumps Passed ", "Game.Falls Failed fell"], game.Reported);
        Assert.False(tests.IsRunning);
    }

    [Theory]
    [InlineData(TestFilterKind.Exact, "Game.Jumps", 1)]
    [InlineData(TestFilterKind.Regex, "Fal+s", 1)]
    [InlineData(TestFilterKind.Assembly, "Game.Tests", 2)]
    [InlineData(TestFilterKind.Category, "slow", 0)]
    public void Counts_only_what_the_filter_means_and_hands_it_on(TestFilterKind kind, string value, int count)
    {
        var tests = Domain();
        _ = tests.RunAsync(Request(kind, value), game, default);
        StubbedEditor.Notify(one => one.RunStarted(Tree));

        Assert.Equal([$"started {count}"], game.Reported);
        var filter = Assert.Single(Assert.Single(StubEditor.TestRuns).filters);
        var handed = filter.testNames ?? filter.groupNames ?? filter.assemblyNames ?? filter.categoryNames;
        Assert.Equal([value], handed);
    }

    [Fact]
    public async Task An_error_of_the_framework_fails_the_run()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), game, default);
        StubbedEditor.Notify(one => ((IErrorCallbacks)one).OnError("compile errors"));
        tests.Tick();
        Assert.False(running.IsCompleted, "its clean-up follows");
        StubEditor.EndTestJobs();
        tests.Tick();
        var error = await Assert.ThrowsAsync<InvalidOperationException>(() => running);
        Assert.Equal("compile errors", error.Message);
    }

    [Fact]
    public void A_persons_own_run_is_waited_for_and_not_told_as_ours()
    {
        var tests = Domain();
        Assert.False(tests.IsRunning);
        StubEditor.BeginTestJob();
        Assert.True(tests.IsRunning, "its job is there before it tells anything");
        StubbedEditor.Notify(one => one.RunStarted(Tree));
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Jumps, TestStatus.Passed)));
        tests.Tick();
        var refused = Assert.Throws<ToolException>(() => { _ = tests.RunAsync(Request(TestFilterKind.All, ""), game, default); });
        Assert.Equal("tests_running", refused.Type);
        Assert.Empty(StubEditor.TestRuns);

        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        tests.Tick();
        Assert.False(tests.IsRunning);
        Assert.Empty(game.Reported);
    }

    [Fact]
    public async Task A_persons_run_that_follows_a_lost_one_of_ours_is_not_told_as_ours()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), game, default);
        // A person cancels it, which nobody tells, and runs the tests themselves.
        StubEditor.EndTestJobs();
        StubEditor.BeginTestJob("theirs");
        StubbedEditor.Notify(one => one.RunStarted(Tree));
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Jumps, TestStatus.Passed)));
        StubbedEditor.Notify(one => one.RunFinished(new TestEnd(Tree, TestStatus.Passed)));
        tests.Tick();
        Assert.False(running.IsCompleted);
        editor.Clock.ElapsedMs += 10_000;
        tests.Tick();
        await Assert.ThrowsAsync<InvalidOperationException>(() => running);
        Assert.Empty(game.Reported);
        Assert.True(tests.IsRunning, "theirs");
    }

    [Fact]
    public async Task A_cancelled_run_is_stopped_from_the_main_thread_and_ends_cancelled()
    {
        using var cancellation = new CancellationTokenSource();
        var tests = Domain();
        Assert.True(tests.CanCancel);
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), game, cancellation.Token);
        await Task.Run(cancellation.Cancel);
        Assert.Empty(StubEditor.CancelledRuns);
        tests.Tick();
        tests.Tick();
        Assert.Equal(["guid-1"], StubEditor.CancelledRuns);

        // No callback tells the end of a cancelled run.
        StubEditor.EndTestJobs();
        editor.Clock.ElapsedMs += 10_000;
        tests.Tick();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
        Assert.False(tests.IsRunning);
    }

    [Fact]
    public async Task A_run_whose_scenes_a_person_did_not_want_to_save_fails_in_the_end()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), game, default);
        StubEditor.EndTestJobs();
        tests.Tick();
        Assert.False(running.IsCompleted);
        editor.Clock.ElapsedMs += 10_000;
        tests.Tick();
        var error = await Assert.ThrowsAsync<InvalidOperationException>(() => running);
        Assert.Contains("a person has ended the run", error.Message);
    }

    private UnityTests Domain() => new(store, editor.Clock, editor.Project);
}
