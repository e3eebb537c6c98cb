#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEditor.TestTools.TestRunner.Api;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

public sealed class UnityTestsTests : ITestRunListener
{
    private static readonly TestNode Jumps = new("Game.Jumps");
    private static readonly TestNode Falls = new("Game.Falls");
    private static readonly TestNode Tree = new(
        "Game",
        new TestNode("Game.Tests.dll", new TestNode("Game", Jumps, Falls, new TestNode("Game.Manual") { RunState = RunState.Explicit }))
        {
            IsTestAssembly = true,
        });

    private readonly StubbedEditor editor = new();
    private readonly UnitySessionStore store = new();
    private readonly List<string> reported = [];

    [Fact]
    public async Task Tells_each_test_as_it_ends_and_ends_with_the_runs_clean_up()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), this, default);
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
        Assert.Equal(["started 2", "Game.Jumps Passed ", "Game.Falls Failed fell"], reported);
        Assert.False(tests.IsRunning);
    }

    [Theory]
    [InlineData(TestFilterKind.Exact, "Game.Jumps", 1)]
    [InlineData(TestFilterKind.Assembly, "Game.Tests", 2)]
    public void Counts_only_what_the_filter_means_and_hands_it_on(TestFilterKind kind, string value, int count)
    {
        var tests = Domain();
        _ = tests.RunAsync(Request(kind, value), this, default);
        StubbedEditor.Notify(one => one.RunStarted(Tree));

        Assert.Equal([$"started {count}"], reported);
        var filter = Assert.Single(Assert.Single(StubEditor.TestRuns).filters);
        Assert.Equal([value], filter.testNames ?? filter.assemblyNames);
    }

    [Theory]
    [InlineData(TestFilterKind.Regex)]
    [InlineData(TestFilterKind.Category)]
    public void The_framework_gets_names_and_never_an_expression(TestFilterKind kind)
    {
        var tests = Domain();
        var picked = new PickedTests(1, ["Game.Falls"]);
        _ = tests.RunAsync(new TestRunRequest("run", TestPlatform.EditMode, kind, "(a+)+$", false, picked), this, default);
        StubbedEditor.Notify(one => one.RunStarted(Tree));
        Assert.Equal(["started 1"], reported);
        var filter = Assert.Single(Assert.Single(StubEditor.TestRuns).filters);
        Assert.Equal(["Game.Falls"], filter.testNames);
        Assert.Null(filter.groupNames ?? filter.categoryNames);
    }

    [Fact]
    public async Task Lists_the_tests_by_the_names_that_the_frameworks_filter_compares()
    {
        var listing = Domain().ListAsync(TestPlatform.PlayMode);
        var (mode, callback) = Assert.Single(StubEditor.TestListRequests);
        Assert.Equal(TestMode.PlayMode, mode);
        Assert.False(listing.IsCompleted);
        callback(new TestNode(
            "/project/Game",
            new TestNode("/project/Library/Game.Tests.dll", new TestNode("Game.Adds(Pair GeneratedTestCase2)") { ChildIndex = 2, Categories = ["slow"] })
            {
                IsTestAssembly = true,
            }));

        var root = await listing;
        var assembly = Assert.Single(root.Children);
        var test = Assert.Single(assembly.Children);
        Assert.Equal(("", "Game.Tests.dll", "Game.Adds(Pair)"), (root.Name, assembly.Name, test.Name));
        Assert.Equal((true, true, false), (root.IsSuite, assembly.IsAssembly, test.IsSuite));
        Assert.Equal(["slow"], test.Categories);
    }

    [Fact]
    public async Task Goes_on_after_a_domain_reload()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), this, default);
        before.Dispose();
        Assert.Empty(StubEditor.TestCallbacks);

        var after = Domain();
        Assert.True(after.IsRunning);
        Assert.Null(after.AttachAsync(new TestRunRequest("another", TestPlatform.EditMode, TestFilterKind.All, ""), this, default));
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), this, default);
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Falls, TestStatus.Passed)));
        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();

        Assert.NotNull(running);
        await running!;
        Assert.Equal(["Game.Falls Passed "], reported);
        Assert.Null(after.AttachAsync(Request(TestFilterKind.All, ""), this, default));
    }

    [Fact]
    public async Task A_run_that_the_framework_gave_up_after_a_reload_fails_in_the_end()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), this, default);
        before.Dispose();
        StubEditor.EndTestJobs();

        var after = Domain();
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), this, default)!;
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
    public async Task An_error_of_the_framework_fails_the_run()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), this, default);
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
        var refused = Assert.Throws<ToolException>(() => { _ = tests.RunAsync(Request(TestFilterKind.All, ""), this, default); });
        Assert.Equal("tests_running", refused.Type);
        Assert.Empty(StubEditor.TestRuns);

        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        tests.Tick();
        Assert.False(tests.IsRunning);
        Assert.Empty(reported);
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
    public async Task A_persons_run_that_follows_a_lost_one_of_ours_is_not_told_as_ours()
    {
        var tests = Domain();
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), this, default);
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
        Assert.Empty(reported);
        Assert.True(tests.IsRunning, "theirs");
    }

    [Fact]
    public void A_run_of_ours_that_nobody_listens_to_is_watched_to_its_end()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), this, default);
        before.Dispose();

        var after = Domain();
        editor.Clock.ElapsedMs += 60_000;
        after.Tick();
        Assert.True(after.IsRunning);
        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();
        Assert.False(after.IsRunning);
        Assert.Empty(reported);
    }

    [Fact]
    public async Task What_ended_before_the_operation_went_on_after_a_reload_is_told_then()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), this, default);
        before.Dispose();

        var after = Domain();
        StubbedEditor.Notify(one => one.RunStarted(Tree));
        StubbedEditor.Notify(one => one.TestFinished(new TestEnd(Jumps, TestStatus.Passed)));
        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), this, default)!;
        after.Tick();
        await running;
        Assert.Equal(["started 2", "Game.Jumps Passed "], reported);
    }

    [Fact]
    public async Task A_cancelled_run_is_stopped_from_the_main_thread_and_ends_cancelled()
    {
        using var cancellation = new CancellationTokenSource();
        var tests = Domain();
        Assert.True(tests.CanCancel);
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), this, cancellation.Token);
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
        var running = tests.RunAsync(Request(TestFilterKind.All, ""), this, default);
        StubEditor.EndTestJobs();
        tests.Tick();
        Assert.False(running.IsCompleted);
        editor.Clock.ElapsedMs += 10_000;
        tests.Tick();
        var error = await Assert.ThrowsAsync<InvalidOperationException>(() => running);
        Assert.Contains("a person has ended the run", error.Message);
    }

    [Fact]
    public async Task With_a_test_framework_of_1_1_a_run_goes_on_after_a_reload_as_long_as_it_takes()
    {
        StubEditor.HasOldTestFramework = true;
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), this, default);
        before.Dispose();

        var after = Domain();
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), this, default)!;
        editor.Clock.ElapsedMs += 3_600_000;
        after.Tick();
        Assert.False(running.IsCompleted, "IsRunActive is false there, but the framework still has the job");
        Assert.Throws<ToolException>(() => { _ = after.RunAsync(Request(TestFilterKind.All, ""), this, default); });

        StubbedEditor.Finish(new TestEnd(Tree, TestStatus.Passed));
        after.Tick();
        await running;
    }

    [Fact]
    public async Task A_reload_during_the_clean_up_loses_no_report()
    {
        var before = Domain();
        _ = before.RunAsync(Request(TestFilterKind.All, ""), this, default);
        StubbedEditor.Notify(one => one.RunFinished(new TestEnd(Tree, TestStatus.Passed)));
        before.Dispose();

        var after = Domain();
        var running = after.AttachAsync(Request(TestFilterKind.All, ""), this, default)!;
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

    void ITestRunListener.Started(int totalCases) => reported.Add($"started {totalCases}");

    void ITestRunListener.Finished(TestCaseResult testCase) => reported.Add($"{testCase.FullName} {testCase.Verdict} {testCase.Message}");

    private static TestRunRequest Request(TestFilterKind kind, string value, TestPlatform platform = TestPlatform.EditMode) =>
        new("operation-1", platform, kind, value);

    private UnityTests Domain() => new(store, editor.Clock, editor.Project);
}
