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
    [InlineData(TestFilterKind.Assembly, "Game.Tests", 2)]
    public void Counts_only_what_the_filter_means_and_hands_it_on(TestFilterKind kind, string value, int count)
    {
        var tests = Domain();
        _ = tests.RunAsync(Request(kind, value), game, default);
        StubbedEditor.Notify(one => one.RunStarted(Tree));

        Assert.Equal([$"started {count}"], game.Reported);
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
        _ = tests.RunAsync(new TestRunRequest("run", TestPlatform.EditMode, kind, "(a+)+$", false, picked), game, default);
        StubbedEditor.Notify(one => one.RunStarted(Tree));
        Assert.Equal(["started 1"], game.Reported);
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

    /// <summary>A method with cases is a node above them; behind a domain reload the framework tells a test without the nodes above.</summary>
    [Fact]
    public void Tells_the_class_of_each_test()
    {
        var tests = Domain();
        _ = tests.RunAsync(Request(TestFilterKind.All, ""), game, default);
        var plain = new TestNode("Game.Parser.Handles 3.5 percent") { TypeInfo = typeof(UnityTestsTests) };
        var oneCase = new TestNode("Game.Parser(1.5).Reads(\"a.b\").") { TypeInfo = typeof(UnityTestsTests) };
        var alone = new TestNode("Game.Parser.Ends with a dot.") { TypeInfo = typeof(UnityTestsTests) };
        var untold = new TestNode("Game.Parser.Reads");
        var tree = new TestNode(
            "Game",
            new TestNode("Game.Parser", plain) { TypeInfo = typeof(UnityTestsTests) },
            new TestNode("Game.Parser(1.5)", new TestNode("Game.Parser.Reads", oneCase)) { TypeInfo = typeof(UnityTestsTests) });
        StubbedEditor.Notify(one => one.RunStarted(tree));
        foreach (var test in new[] { plain, oneCase, alone, untold })
        {
            StubbedEditor.Notify(one => one.TestFinished(new TestEnd(test, TestStatus.Passed)));
        }

        Assert.Equal(["Game.Parser", "Game.Parser(1.5)", typeof(UnityTestsTests).FullName!, ""], game.Classes);
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
