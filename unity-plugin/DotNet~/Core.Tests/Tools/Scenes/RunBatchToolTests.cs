using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Scenes;

public sealed class RunBatchToolTests : IDisposable
{
    private const string Make = """{"Tool":"create-game-object","Arguments":{"Name":"A"}}""";
    private const string Rename = """{"Tool":"modify-game-object","Arguments":{"Target":"/A","Name":"B"}}""";
    private const string Fail = """{"Tool":"delete-game-object","Arguments":{"Target":"Nobody"}}""";

    private readonly SceneEditor editor = new();

    public void Dispose() => editor.Dispose();

    [Fact]
    public async Task Steps_are_one_step_of_Undo_and_each_sees_those_before()
    {
        var ran = await editor.Call("run-batch", $$"""{"Steps":[{{Make}},{{Rename}}]}""");
        Assert.True((bool)ran["success"]!);
        Assert.Equal(["/A", "/B"], ran["steps"]!.Select(step => (string)step["result"]!["path"]!));
        Assert.Equal(["run-batch"], editor.World.UndoSteps);
        Assert.Equal([1, 2], editor.LastCall.Reports.Select(report => report.Progress));
        editor.World.Undo();
        Assert.DoesNotContain("B", editor.Paths());
    }

    [Fact]
    public async Task The_first_failure_ends_it_and_what_was_done_stays_and_is_told()
    {
        var ran = await editor.Call("run-batch", $$"""{"Steps":[{{Make}},{{Fail}},{{Rename}}]}""");
        Assert.False((bool)ran["success"]!);
        Assert.Equal(["done", "failed", "not_run"], ran["steps"]!.Select(step => (string)step["status"]!));
        Assert.Equal("game_object_not_found", (string)ran["steps"]![1]!["error"]!["type"]!);
        Assert.Equal((1, 1, 1), ((int)ran["done"]!, (int)ran["failed"]!, (int)ran["notRun"]!));
        Assert.Contains("A", editor.Paths());
        Assert.Equal(["run-batch"], editor.World.UndoSteps);
    }

    [Fact]
    public async Task It_goes_on_behind_a_failure_when_it_is_told_to()
    {
        var ran = await editor.Call("run-batch", $$"""{"Steps":[{{Make}},{{Fail}},{{Rename}}],"ContinueOnError":true}""");
        Assert.Equal(["done", "failed", "done"], ran["steps"]!.Select(step => (string)step["status"]!));
        Assert.False((bool)ran["success"]!);
        Assert.Contains("B", editor.Paths());
    }

    [Theory]
    [InlineData("""{"Tool":"create-gameobject"}""", "Step 1: create-gameobject cannot run in a batch. Did you mean create-game-object?")]
    [InlineData("""{"Tool":"run-batch","Arguments":{"Steps":[]}}""", "Step 1: run-batch cannot run in a batch.")]
    [InlineData("""{"Tool":"execute-menu-item","Arguments":{"MenuItemPath":"File/Save"}}""", "execute-menu-item cannot run")]
    [InlineData("""{"Tool":"execute-code","Arguments":{"Code":"1"}}""", "execute-code cannot run")]
    [InlineData("""{"Tool":"build-player"}""", "build-player cannot run")]
    [InlineData("""{"Tool":"run-tests"}""", "run-tests cannot run")]
    [InlineData("""{"Tool":"create-game-object","Arguments":{"Nme":"A"}}""", "Step 1 (create-game-object): There is no parameter Nme.")]
    [InlineData("""{"Tool":"delete-game-object"}""", "Step 1 (delete-game-object): Target is missing.")]
    public async Task A_step_that_cannot_run_stops_all_before_the_first(string step, string says)
    {
        var error = await editor.Fails("run-batch", $$"""{"Steps":[{{Make}},{{step}}]}""");
        Assert.Equal("invalid_arguments", error.Type);
        Assert.Contains(says, error.Message);
        Assert.EndsWith("Nothing has run.", error.Message);
        Assert.DoesNotContain("A", editor.Paths());
        Assert.Empty(editor.World.UndoSteps);
    }

    [Fact]
    public async Task Each_step_needs_its_own_permission_at_submission_and_when_it_runs()
    {
        var security = new McpSecurityChecker(editor.Tools, editor.Security);
        var batch = JObject.Parse("""{"Steps":[{"Tool":"create-game-object"},{"tool":"execute-menu-item","arguments":{"MenuItemPath":"A"}}]}""");
        var camel = new JObject { ["steps"] = batch["Steps"]!.DeepClone() };
        foreach (var arguments in new[] { batch, camel })
        {
            Assert.StartsWith("execute-menu-item is blocked", security.Refusal("run-batch", arguments));
        }
        Assert.Null(security.Refusal("run-batch", JObject.Parse($$"""{"Steps":[{{Make}}]}""")));

        editor.Security.Current = new SecuritySnapshot();
        Assert.StartsWith("run-batch is blocked", security.Refusal("run-batch", JObject.Parse($$"""{"Steps":[{{Make}}]}""")));
        var error = await editor.Fails("run-batch", """{"Steps":[{"Tool":"read-component","Arguments":{"Target":"Root0"}},""" + Make + "]}");
        Assert.Equal("security_blocked", error.Type);
        Assert.StartsWith("Step 1: create-game-object is blocked", error.Message);
    }

    [Fact]
    public async Task Nothing_and_too_much_are_refused()
    {
        Assert.Equal("invalid_arguments", (await editor.Fails("run-batch", """{"Steps":[]}""")).Type);
        var many = string.Join(",", Enumerable.Repeat(Make, 201));
        Assert.Contains("from 1 to 200", (await editor.Fails("run-batch", $$"""{"Steps":[{{many}}]}""")).Message);
    }

    [Fact]
    public void Only_quick_tools_of_the_main_lane_can_be_steps()
    {
        var steps = editor.Tools.All().Where(tool => tool.RunsInBatches).ToList();
        Assert.All(steps, tool => Assert.Equal((ToolLanes.Main, ExecutionClass.Quick), (tool.Lane, tool.ExecutionClass)));
        Assert.DoesNotContain(steps, tool => tool.Name == "run-batch");
    }
}
