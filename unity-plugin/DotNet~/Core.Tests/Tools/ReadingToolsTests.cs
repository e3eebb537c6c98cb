using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

using static JobBroker.Bridge.Tests.Tools.InMemory.InMemoryScene;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class ReadingToolsTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public ReadingToolsTests()
    {
        editor.Scene.RootObjects.AddRange(new[]
        {
            Object("World", children: new[]
            {
                Object("World/Player", tag: "Player", layer: 3, components: new[] { "Transform", "Camera" }, children: new[]
                {
                    Object("World/Player/Hand"),
                }),
                Object("World/Off", active: false, children: Object("World/Off/Hand", active: false)),
            }),
            Object("UI", components: new[] { "RectTransform" }),
        });
    }

    public void Dispose() => editor.Dispose();

    private static string[] Paths(JToken found, string list) =>
        found[list]!.Select(one => (string)one["path"]!).ToArray();

    [Fact]
    public async Task Ping_answers_off_the_main_thread()
    {
        var tool = new PingTool();
        var answer = await Task.Run(() => new ToolCall().Run(tool, new { message = "hi" }));
        Assert.Equal("""{"Message":"Unity Editor received: hi"}""", answer.ToString(Formatting.None));
    }

    [Fact]
    public async Task Get_logs_tells_the_newest_that_match_off_the_main_thread()
    {
        editor.Console.Write("one", ConsoleLineType.Error, "at A.B()", 5);
        editor.Console.Write("two");
        editor.Console.Write("three", ConsoleLineType.Warning);
        editor.Console.Write("twenty", ConsoleLineType.Log, "at one");
        var tool = new GetLogsTool(editor.Services);
        async Task<string> Logs(object arguments)
        {
            var answer = await Task.Run(() => new ToolCall().Run(tool, arguments));
            var lines = string.Join(",", answer["Logs"]!.Select(line => (string)line["Message"]!));
            return $"{lines} {answer["DisplayedCount"]}/{answer["TotalCount"]}";
        }

        Assert.Equal("one,two,three,twenty 4/4", await Logs(new { }));
        Assert.Equal("three,twenty 2/4", await Logs(new { MaxCount = 2 }));
        Assert.Equal("three 1/1", await Logs(new { LogType = "warning" }));
        Assert.Equal("two,twenty 2/2", await Logs(new { SearchText = "tw" }));
        Assert.Equal("two,twenty 2/2", await Logs(new { SearchText = "^tw", UseRegex = true }));
        Assert.Equal("one,twenty 2/2", await Logs(new { SearchText = "one", SearchInStackTrace = true }));
        var shown = await new ToolCall().Run(tool, new { LogType = "Error", IncludeStackTrace = true });
        Assert.Equal(
            """{"LogType":"Error","Message":"one","StackTrace":"at A.B()","At":5}""",
            shown["Logs"]![0]!.ToString(Formatting.None));
        Assert.Null((await new ToolCall().Run(tool))["Logs"]![0]!["StackTrace"]);
    }

    [Fact]
    public async Task A_wrong_or_endless_expression_is_refused()
    {
        editor.Console.Write(new string('a', 40));
        var tool = new GetLogsTool(editor.Services);
        var wrong = await ToolCall.Fails(tool, new { SearchText = "(", UseRegex = true });
        Assert.StartsWith("SearchText is not a regular expression", wrong.Message);
        var endless = await ToolCall.Fails(tool, new { SearchText = "^(a+)+b$", UseRegex = true });
        Assert.StartsWith("SearchText takes too long", endless.Message);
    }

    [Fact]
    public async Task An_expression_whose_nesting_would_end_the_Editor_is_refused_before_it_is_read()
    {
        const int levels = 300_000;
        var nested = string.Concat(Enumerable.Repeat("[a-", levels)) + "b" + new string(']', levels);
        var refused = await ToolCall.Fails(new GetLogsTool(editor.Services), new { SearchText = nested, UseRegex = true });
        Assert.Equal("SearchText is a regular expression of 1200001 characters; at most 4000 are read. Write a simpler one.".Replace("1200001", $"{nested.Length}"), refused.Message);
    }

    [Fact]
    public async Task Clear_console_empties_what_get_logs_reads()
    {
        editor.Console.Write("one");
        editor.Console.Write("two");
        var answer = await new ToolCall().Run(new ClearConsoleTool(editor.Services));
        Assert.Equal("""{"Success":true,"ClearedLogCount":2}""", answer.ToString(Formatting.None));
        Assert.Equal(0, (int)(await new ToolCall().Run(new GetLogsTool(editor.Services)))["TotalCount"]!);
    }

    [Fact]
    public async Task Get_hierarchy_lists_parents_before_children()
    {
        var tool = new GetHierarchyTool(editor.Services);
        async Task<string[]> Nodes(object arguments) => Paths(await new ToolCall().Run(tool, arguments), "nodes");

        var all = await new ToolCall().Run(tool);
        Assert.Equal(
            new[] { "/World", "/World/Player", "/World/Player/Hand", "/World/Off", "/World/Off/Hand", "/UI" },
            Paths(all, "nodes"));
        Assert.Equal(6, (int)all["nodeCount"]!);
        Assert.Equal("SampleScene", (string)all["sceneName"]!);
        Assert.Equal(2, (int)all["nodes"]![2]!["depth"]!);
        Assert.Equal(
            new[] { "/World", "/World/Player", "/World/Player/Hand", "/UI" },
            await Nodes(new { IncludeInactive = false }));
        Assert.Equal(new[] { "/World", "/UI" }, await Nodes(new { MaxDepth = 0 }));
        Assert.Equal(new[] { "/World/Player", "/World/Player/Hand" }, await Nodes(new { RootPath = "/World/Player" }));
        editor.Scene.Selected.AddRange(new[] { "World/Player/Hand", "World/Player" });
        Assert.Equal(new[] { "/World/Player", "/World/Player/Hand" }, await Nodes(new { UseSelection = true }));
        var bare = await new ToolCall().Run(tool, new { IncludePaths = false, IncludeComponents = false, MaxDepth = 0 });
        var world = (JObject)bare["nodes"]![0]!;
        Assert.Equal(editor.Scene.Roots()[0].Id, (string)world["id"]!);
        world.Remove("id");
        Assert.Equal("""{"name":"World","depth":0,"isActive":true}""", world.ToString(Formatting.None));
        Assert.Equal("game_object_not_found", (await ToolCall.Fails(tool, new { RootPath = "/Moon" })).Type);
    }

    [Fact]
    public async Task A_very_deep_tree_is_no_trouble()
    {
        var deep = Object("d");
        for (var depth = 0; depth < 20_000; depth++) deep = Object("d", children: deep);
        editor.Scene.RootObjects.Add(deep);
        var answer = await new ToolCall().Run(new GetHierarchyTool(editor.Services));
        Assert.Equal(20_007, (int)answer["nodeCount"]!);
    }

    [Fact]
    public async Task Find_game_objects_takes_every_criterion()
    {
        var tool = new FindGameObjectsTool(editor.Services);
        async Task<string[]> Found(object arguments) => Paths(await new ToolCall().Run(tool, arguments), "results");

        Assert.Equal(new[] { "/World/Player/Hand" }, await Found(new { NamePattern = "Hand" }));
        Assert.Equal(2, (await Found(new { NamePattern = "Hand", IncludeInactive = true })).Length);
        Assert.Empty(await Found(new { NamePattern = "Han" }));
        Assert.Equal(new[] { "/World/Player/Hand" }, await Found(new { NamePattern = "an", SearchMode = "contains" }));
        Assert.Equal(
            new[] { "/World/Player", "/World/Player/Hand" },
            await Found(new { NamePattern = "^(P|H)", SearchMode = "Regex" }));
        Assert.Equal(new[] { "/World/Player" }, await Found(new { NamePattern = "World/Player", SearchMode = "Path" }));
        Assert.Equal(
            new[] { "/World/Player" },
            await Found(new { RequiredComponents = new[] { "Camera", "Transform" } }));
        Assert.Empty(await Found(new { RequiredComponents = new[] { "Camera", "Light" } }));
        Assert.Equal(new[] { "/World/Player" }, await Found(new { Tag = "Player", Layer = 3 }));
        Assert.Empty(await Found(new { Tag = "Player", Layer = 0 }));
        editor.Scene.Selected.Add("UI");
        Assert.Equal(new[] { "/UI" }, await Found(new { SearchMode = "Selected" }));
        var first = await new ToolCall().Run(tool, new { MaxResults = 1, IncludeInheritedProperties = true });
        Assert.Equal(4, (int)first["totalFound"]!);
        Assert.Equal("True", (string?)first["results"]![0]!["componentDetails"]![0]!["Properties"]![0]!["Value"]);
    }

    [Fact]
    public async Task Get_provider_details_orders_by_priority()
    {
        var tool = new GetProviderDetailsTool(editor.Services);
        async Task<string> Ids(object arguments) =>
            string.Join(
                ",",
                (await new ToolCall().Run(tool, arguments))["Providers"]!.Select(one => (string)one["Id"]!));

        Assert.Equal("asset,scene,store", await Ids(new { }));
        Assert.Equal("scene,asset,store", await Ids(new { SortByPriority = false }));
        Assert.Equal("asset,scene", await Ids(new { ActiveOnly = true }));
        Assert.Equal("scene", await Ids(new { ProviderId = "scene" }));
    }

    [Fact]
    public async Task Unity_search_filters_what_it_finds()
    {
        foreach (var name in new[] { "Assets/Art/a.mat", "Assets/Art/b.png", "Assets/Code/c.cs" })
        {
            var type = name.EndsWith("png") ? "Texture2D" : "Object";
            editor.Search.Hits.Add(new SearchHit("id-" + name, name, "about " + name, "asset", type, name));
        }
        var tool = new UnitySearchTool(editor.Services);
        async Task<string> Found(object arguments)
        {
            var answer = await new ToolCall().Run(tool, arguments);
            var names = string.Join(",", answer["Results"]!.Select(one => ((string)one["Path"]!).Split('/').Last()));
            return $"{names} {answer["DisplayedCount"]}/{answer["TotalCount"]}";
        }

        Assert.Equal(
            "a.mat,b.png 2/2",
            await Found(new { SearchQuery = "t:x", MaxResults = 2, SearchFlags = "packages" }));
        Assert.Equal("t:x in [] Packages at most 2", editor.Search.Asked);
        Assert.Equal(
            "c.cs 1/1",
            await Found(new { SearchQuery = "x", FileExtensions = new[] { "CS" }, MaxResults = 1 }));
        Assert.Equal("b.png 1/1", await Found(new { SearchQuery = "x", AssetTypes = new[] { "Texture2D" } }));
        Assert.Equal("a.mat 1/2", await Found(new { SearchQuery = "x", PathFilter = "assets/art/*", MaxResults = 1 }));
        var unknown = await ToolCall.Fails(tool, new { SearchQuery = "x", Providers = new[] { "asset", "moon" } });
        Assert.Contains("There is no provider moon. Known are scene, asset, store.", unknown.Message);
        var cancelled = new ToolCall();
        cancelled.Cancel();
        await Assert.ThrowsAsync<OperationCanceledException>(() => cancelled.Run(tool, new { SearchQuery = "x" }));
    }
}
