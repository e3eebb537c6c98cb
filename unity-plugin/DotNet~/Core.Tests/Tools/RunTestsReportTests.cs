#nullable enable
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

/// <summary>Which finished tests run-tests lists, while it runs and at its end.</summary>
public sealed class RunTestsReportTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    [Theory]
    [InlineData("none", "", null)]
    [InlineData("all", "", "Fighter.Jumps Fighter.Hits Fighter.Sleeps Fighter.Thinks Song.Plays")]
    [InlineData("passed", "", "Fighter.Jumps Song.Plays")]
    [InlineData("failed", "", "Fighter.Hits")]
    [InlineData("skipped", "", "Fighter.Sleeps Fighter.Thinks")]
    [InlineData("none", "Fighter", "Fighter.Jumps Fighter.Hits Fighter.Sleeps Fighter.Thinks")]
    [InlineData("passed", "^Fighter", "Fighter.Jumps")]
    [InlineData("passed", "Nobody", "")]
    public async Task Cases_are_those_of_the_result_and_name_that_were_asked_for(string results, string name, string? listed)
    {
        var call = new ToolCall();
        var running = call.Run(new TickingTool(new RunTestsTool(editor.Services), editor), new { ReportResults = results, ReportName = name });
        editor.Tests.Start(5);
        editor.Tests.Finish("Fighter.Jumps");
        editor.Tests.Finish("Fighter.Hits", TestVerdict.Failed);
        editor.Tests.Finish("Fighter.Sleeps", TestVerdict.Skipped);
        editor.Tests.Finish("Fighter.Thinks", TestVerdict.Inconclusive);
        editor.Tests.Finish("Song.Plays");
        // While it still runs.
        Assert.Equal(listed, Names(call.LastPartial!));
        Assert.Equal((5, 2, 1), ((int)call.LastPartial!["completed"]!, (int)call.LastPartial["passed"]!, (int)call.LastPartial["failed"]!));
        editor.Tests.End();
        var answer = await running;
        Assert.Equal(listed, Names(answer));
        Assert.Equal((5, 2, 1), ((int)answer["completed"]!, (int)answer["passed"]!, ((JArray)answer["failures"]!).Count));
    }

    [Fact]
    public async Task A_test_reported_again_with_another_result_is_where_its_last_result_belongs()
    {
        var running = new ToolCall().Run(new TickingTool(new RunTestsTool(editor.Services), editor), new { ReportResults = "passed" });
        editor.Tests.Start(3);
        editor.Tests.Finish("G.One", TestVerdict.Failed);
        editor.Tests.Finish("G.Two");
        editor.Tests.Finish("G.Three");
        editor.Tests.Finish("G.One");
        editor.Tests.Finish("G.Two", TestVerdict.Failed);
        editor.Tests.End();
        Assert.Equal("G.One G.Three", Names(await running));
    }

    [Fact]
    public async Task An_expression_that_takes_too_long_is_given_up_once_and_the_run_is_not()
    {
        var running = new ToolCall().Run(new TickingTool(new RunTestsTool(editor.Services), editor), new { ReportName = "^(a+)+$" });
        editor.Tests.Start(3);
        editor.Tests.Finish("aa");
        editor.Tests.Finish(new string('a', 40) + "!");
        editor.Tests.Finish("aaa");
        editor.Tests.End();
        var answer = await running;
        Assert.Equal((3, "aa"), ((int)answer["passed"]!, Names(answer)));
        Assert.StartsWith("ReportName takes too long to match", (string?)answer["Message"]);
    }

    [Fact]
    public async Task What_is_no_expression_begins_nothing()
    {
        var error = await ToolCall.Fails(new TickingTool(new RunTestsTool(editor.Services), editor), new { ReportName = "(" });
        Assert.Equal(ToolException.InvalidArguments, error.Type);
        Assert.StartsWith("ReportName is not a regular expression", error.Message);
        Assert.Empty(editor.Tests.Begun);
    }

    private static string? Names(JToken report) =>
        report["cases"] is JArray cases ? string.Join(" ", cases.Select(one => (string?)one["name"])) : null;
}
