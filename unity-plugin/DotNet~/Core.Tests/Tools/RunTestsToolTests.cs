using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using System.Xml.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class RunTestsToolTests : IDisposable
{
    private const string Id = "3f0a5a0e-1111-4222-8333-444455556666";

    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    private TickingTool Tool => new(new RunTestsTool(editor.Services), editor);

    private string ResumeFile => Path.Combine(editor.Info.ProjectPath, "Temp", "JobBroker", $"tests-{Id}.jsonl");

    [Fact]
    public async Task Every_finished_test_is_a_partial_result()
    {
        var call = new ToolCall(Id);
        var running = call.Run(
            Tool,
            new { TestMode = "PlayMode", FilterType = "regex", FilterValue = "^Game", ReportResults = "all" });
        var begun = Assert.Single(editor.Tests.Begun);
        Assert.Equal(
            (Id, TestPlatform.PlayMode, TestFilterKind.Regex, "^Game"),
            (begun.RunId, begun.Platform, begun.FilterKind, begun.FilterValue));
        editor.Tests.Start(4);
        editor.Tests.Finish("Game.A.One");
        Assert.Equal(
            """{"completed":1,"total":4,"passed":1,"failed":0,"skipped":0,"failures":[],"cases":[{"name":"Game.A.One","result":"passed","ms":500.0}]}""",
            call.LastPartial!.ToString(Formatting.None));
        editor.Tests.Finish("Game.A.Two", TestVerdict.Failed, "Expected: 1", "at Two()");
        Assert.Equal(
            """{"completed":2,"total":4,"passed":1,"failed":1,"skipped":0,"failures":[{"name":"Game.A.Two","message":"Expected: 1","stackTrace":"at Two()"}],"cases":[{"name":"Game.A.One","result":"passed","ms":500.0},{"name":"Game.A.Two","result":"failed","ms":500.0,"message":"Expected: 1"}]}""",
            call.LastPartial!.ToString(Formatting.None));
        editor.Tests.Finish("Game.B.Three", TestVerdict.Skipped, "not today");
        editor.Tests.Finish("Game.B.Four", TestVerdict.Inconclusive);
        Assert.Equal(
            (4, 4, "Game.B.Four"),
            (call.Reports[^1].Progress, call.Reports[^1].Total, call.Reports[^1].Message));
        editor.Tests.End();
        var answer = await running;
        Assert.Equal(
            """[{"name":"Game.A.One","result":"passed","ms":500.0},{"name":"Game.A.Two","result":"failed","ms":500.0,"message":"Expected: 1"},{"name":"Game.B.Three","result":"skipped","ms":500.0,"message":"not today"},{"name":"Game.B.Four","result":"inconclusive","ms":500.0}]""",
            answer["cases"]!.ToString(Formatting.None));
        ((JObject)answer).Remove("cases");
        Assert.Equal(
            """{"Success":false,"TestMode":"PlayMode","completed":4,"total":4,"passed":1,"failed":1,"skipped":1,"inconclusive":1,"failures":[{"name":"Game.A.Two","message":"Expected: 1","stackTrace":"at Two()"}]}""",
            answer.ToString(Formatting.None));
        Assert.False(File.Exists(ResumeFile));
    }

    [Fact]
    public async Task A_run_cut_by_domain_reloads_ends_with_all_its_tests_once()
    {
        var first = new ToolCall(Id);
        _ = first.Run(Tool, new { SaveXml = true });
        editor.Tests.Start(6);
        editor.Tests.Finish("G.One");
        editor.Tests.Finish("G.Two", TestVerdict.Failed, "2026-01-01T00:00:00Z", "at Two()");
        editor.Tests.Finish("G.Three");

        var (second, secondRun) = Reload(first);
        Assert.Equal(3, (int)second.LastPartial!["completed"]!);
        editor.Tests.Start(6);
        editor.Tests.Finish("G.Three");
        editor.Tests.Finish("G.Four");

        var (third, thirdRun) = Reload(second);
        editor.Tests.Finish("G.Five");
        editor.Tests.Finish("G.Six");
        editor.Tests.End();
        var answer = (JToken)(await thirdRun)!;

        Assert.Single(editor.Tests.Begun);
        Assert.False(secondRun.IsCompleted);
        Assert.Equal(
            (6, 6, 5, 1),
            ((int)answer["completed"]!, (int)answer["total"]!, (int)answer["passed"]!, (int)answer["failed"]!));
        Assert.Equal("2026-01-01T00:00:00Z", (string?)answer["failures"]![0]!["message"]);
        Assert.Equal(6, (int)third.LastPartial!["total"]!);
        var names = XDocument.Load((string)answer["XmlPath"]!).Descendants("test-case").Select(one => (string?)one.Attribute("fullname"));
        Assert.Equal(new[] { "G.One", "G.Two", "G.Three", "G.Four", "G.Five", "G.Six" }, names);
        Assert.False(File.Exists(ResumeFile));
    }

    [Fact]
    public async Task A_run_whose_tests_all_ended_before_the_reload_is_complete()
    {
        var first = new ToolCall(Id);
        _ = first.Run(Tool);
        editor.Tests.Start(2);
        editor.Tests.Finish("G.One");
        editor.Tests.Finish("G.Two");
        editor.Tests.ForgetRun();
        var (_, resumed) = Reload(first);
        Assert.True((bool)((JToken)(await resumed)!)["Success"]!);
    }

    [Fact]
    public async Task A_run_that_the_framework_has_forgotten_is_an_interruption_and_never_begun_again()
    {
        var first = new ToolCall(Id);
        _ = first.Run(Tool);
        editor.Tests.Start(3);
        editor.Tests.Finish("G.One", TestVerdict.Failed);
        editor.Tests.ForgetRun();
        var (_, resumed) = Reload(first);
        var error = await Assert.ThrowsAsync<ToolException>(() => resumed);
        Assert.Equal("domain_reload", error.Type);
        Assert.Contains("1 of 3 tests (1 failed)", error.Message);
        var nothing = await Assert.ThrowsAsync<ToolException>(() => Tool.ResumeAsync(new JObject(), null, new ToolCall("x").Context));
        Assert.Equal("domain_reload", nothing.Type);
        Assert.Single(editor.Tests.Begun);
    }

    [Fact]
    public async Task A_test_that_nobody_heard_of_is_missed_and_the_run_no_success()
    {
        var first = new ToolCall(Id);
        _ = first.Run(Tool);
        editor.Tests.Start(3);
        editor.Tests.Finish("G.One");
        editor.Tests.ForgetListener();
        editor.Tests.Finish("G.Two");
        var (_, resumed) = Reload(first);
        editor.Tests.Finish("G.Three");
        editor.Tests.End();
        var answer = (JToken)(await resumed)!;
        Assert.False((bool)answer["Success"]!);
        Assert.Equal("Only 2 of 3 tests reported their result.", (string?)answer["Message"]);
    }

    [Fact]
    public async Task A_line_cut_in_the_middle_costs_that_test_alone()
    {
        var first = new ToolCall(Id);
        _ = first.Run(Tool);
        editor.Tests.Start(2);
        editor.Tests.Finish("G.One");
        File.AppendAllText(ResumeFile, """{"FullName":"G.Tw""");
        var (second, resumed) = Reload(first);
        Assert.Equal(1, (int)second.LastPartial!["completed"]!);
        editor.Tests.Finish("G.Two");
        editor.Tests.End();
        Assert.Equal(2, (int)((JToken)(await resumed)!)["completed"]!);
    }

    [Fact]
    public async Task A_disk_that_refuses_does_not_fail_the_run()
    {
        File.WriteAllText(Path.Combine(editor.Info.ProjectPath, "Temp"), "a file where the folder should be");
        File.WriteAllText(Path.Combine(editor.Info.ProjectPath, "TestResults"), "the same");
        var running = new ToolCall(Id).Run(Tool, new { SaveXml = true });
        editor.Tests.Start(1);
        editor.Tests.Finish("G.One");
        editor.Tests.End();
        var answer = await running;
        Assert.True((bool)answer["Success"]!);
        Assert.Null(answer["XmlPath"]);
        Assert.StartsWith("The NUnit file could not be written", (string?)answer["Message"]);
    }

    [Fact]
    public async Task Two_cases_of_one_name_in_two_assemblies_are_two()
    {
        var counts = new ToolCall(Id).Run(Tool);
        editor.Tests.Start(2);
        editor.Tests.Finish(new TestCaseResult("G.One", TestVerdict.Passed, 0, "", "", "[a.dll]G.One"));
        editor.Tests.Finish(new TestCaseResult("G.One", TestVerdict.Failed, 0, "", "", "[b.dll]G.One"));
        editor.Tests.End();
        Assert.Equal((2, 1), ((int)(await counts)["completed"]!, (int)(await counts)["failed"]!));
    }

    [Fact]
    public async Task A_cancellation_reaches_the_framework_only_where_it_can_stop()
    {
        var call = new ToolCall(Id);
        var running = call.Run(Tool);
        call.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);

        editor.Tests.CanCancel = false;
        var deaf = new ToolCall(Id);
        var resumes = deaf.Run(Tool);
        deaf.Cancel();
        editor.Tests.Start(1);
        editor.Tests.Finish("G.One");
        editor.Tests.End();
        Assert.True((bool)(await resumes)["Success"]!);
    }

    [Fact]
    public async Task A_framework_that_gives_up_and_a_filter_that_fits_nothing_are_no_success()
    {
        var failing = new ToolCall(Id).Run(Tool);
        editor.Tests.Start(2);
        editor.Tests.Finish("G.One", TestVerdict.Failed);
        editor.Tests.Fail(new InvalidOperationException("scene cannot be saved"));
        var error = await Assert.ThrowsAsync<ToolException>(() => failing);
        Assert.Equal("test_run_failed", error.Type);
        Assert.Contains("after 1 tests (1 failed): scene cannot be saved", error.Message);

        var empty = new ToolCall(Id).Run(Tool, new { FilterType = "exact", FilterValue = "G.Moon" });
        editor.Tests.Start(0);
        editor.Tests.End();
        Assert.False((bool)(await empty)["Success"]!);
        Assert.StartsWith("No test fits", (string?)(await empty)["Message"]);
    }

    [Theory]
    [InlineData("at G.One () [0x00001] in PROJECT/Assets/Tests/GTests.cs:42", "Assets/Tests/GTests.cs", 42)]
    [InlineData("   at G.One() in PROJECT\\Assets\\G.cs:line 7\r\n   at H.Two() in PROJECT\\Assets\\H.cs:line 8", "Assets/G.cs", 7)]
    [InlineData("at NUnit.Assert.Fail () in /builds/nunit/Assert.cs:9\nat G.One () in PROJECT/Packages/own/G.cs:3", "Packages/own/G.cs", 3)]
    [InlineData("at Test.Run () in ./Library/PackageCache/test/Run.cs:1\nat G.One () in ./Assets/G.cs:5", "Assets/G.cs", 5)]
    [InlineData("at G.One () [0x00000] in <0123456789abcdef>:0", null, 0)]
    [InlineData("G.One (at Assets/G.cs)", null, 0)]
    [InlineData("at G.One () in PROJECT/Assets/G.cs:99999999999", null, 0)]
    public async Task A_failure_has_its_place_in_the_project(string stackTrace, string? file, int line)
    {
        var call = new ToolCall(Id).Run(Tool, new { ReportResults = "all" });
        editor.Tests.Start(1);
        editor.Tests.Finish("G.One", TestVerdict.Failed, "no", stackTrace.Replace("PROJECT", editor.Info.ProjectPath));
        editor.Tests.End();
        var reported = (JObject)(await call)["cases"]![0]!;
        Assert.Equal(file, (string?)reported["file"]);
        Assert.Equal(line, (int?)reported["line"] ?? 0);
        Assert.Equal("G.One no", $"{reported["name"]} {reported["message"]}");
    }

    [Fact]
    public async Task A_test_has_its_class_also_behind_a_domain_reload()
    {
        var first = new ToolCall(Id);
        _ = first.Run(Tool, new { ReportResults = "all" });
        editor.Tests.Start(2);
        editor.Tests.Finish(new TestCaseResult("G.A.Handles 3.5 percent", TestVerdict.Passed, 0, "", "", null, "G.A"));
        var (_, resumed) = Reload(first, new { ReportResults = "all" });
        editor.Tests.Finish("G.A.Untold");
        editor.Tests.End();
        Assert.Equal(
            """[{"name":"G.A.Handles 3.5 percent","className":"G.A","result":"passed","ms":0.0},{"name":"G.A.Untold","result":"passed","ms":500.0}]""",
            ((JToken)(await resumed)!)["cases"]!.ToString(Formatting.None));
    }

    [Fact]
    public async Task A_partial_result_has_the_tests_that_ended_last()
    {
        var call = new ToolCall(Id);
        var running = call.Run(Tool, new { ReportResults = "all" });
        editor.Tests.Start(1000);
        for (var number = 1; number <= 1000; number++) editor.Tests.Finish($"G.Test{number}");
        var partial = (JArray)call.LastPartial!["cases"]!;
        Assert.Equal((200, "G.Test801", "G.Test1000"), (partial.Count, (string?)partial[0]!["name"], (string?)partial.Last!["name"]));
        editor.Tests.End();
        Assert.Equal(1000, ((JArray)(await running)["cases"]!).Count);
    }

    [Fact]
    public async Task A_wrong_filter_begins_nothing()
    {
        Assert.StartsWith(
            "FilterValue is required",
            (await ToolCall.Fails(Tool, new { FilterType = "category" })).Message);
        Assert.StartsWith(
            "FilterValue is not a regular",
            (await ToolCall.Fails(Tool, new { FilterType = "regex", FilterValue = "(" })).Message);
        Assert.StartsWith(
            "FilterType must be one of all, exact, regex, assembly, category",
            (await ToolCall.Fails(Tool, new { FilterType = "some" })).Message);
        Assert.Empty(editor.Tests.Begun);
    }

    /// <summary>
    /// The tool and its call are gone, the framework's run is not; the engine hands the record to a new tool.
    /// </summary>
    private (ToolCall Call, Task<object?> Running) Reload(ToolCall before, object? arguments = null)
    {
        editor.Tests.ForgetListener();
        var record = before.Record!.ToString(Formatting.None);
        var call = new ToolCall(Id);
        call.Context.SaveResumeRecord(JToken.Parse(record));
        return (call, Tool.ResumeAsync(JObject.FromObject(arguments ?? new { SaveXml = true }), JToken.Parse(record), call.Context));
    }
}
