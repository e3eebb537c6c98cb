using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class RegistryTests : IDisposable
{
    private readonly InMemoryEditor editor = new();
    private readonly List<string> reports = new();

    public void Dispose() => editor.Dispose();

    private UnityToolRegistry Own() => new(editor.Services, [], reports.Add);

    private UnityToolRegistry WithProject() =>
        new(editor.Services, typeof(RegistryTests).Assembly.GetTypes(), reports.Add);

    private string ReportOn(Type type) =>
        Assert.Single(reports, report => report.Contains(type.FullName + " is left out"));

    [Fact]
    public void The_bridge_has_these_tools_and_no_others()
    {
        Assert.Equal(
            new[]
            {
                "add-component", "build-player", "capture-screenshot", "clear-console", "compile", "control-play-mode",
                "create-game-object",
                "create-scene", "delete-game-object", "execute-code", "execute-menu-item", "find-assets", "find-game-objects",
                "get-editor-state", "get-hierarchy", "get-logs", "get-menu-items", "get-provider-details", "list-packages",
                "manage-assets", "manage-packages", "modify-component", "modify-game-object", "open-scene", "ping",
                "read-component", "remove-component", "run-batch", "run-tests", "save-scene", "set-build-target",
                "unity-search",
            },
            Own().All().Select(tool => tool.Name));
        Assert.Empty(reports);
    }

    [Fact]
    public void The_list_of_own_tools_has_every_one_and_none_makes_an_expression_at_the_start_of_a_script_domain()
    {
        var classes = typeof(IUnityTool).Assembly.GetTypes()
            .Where(type => type.IsDefined(typeof(McpToolAttribute), false))
            .ToHashSet();
        Assert.Equal(classes, Own().All().Select(tool => tool.Tool.GetType()).ToHashSet());
        const BindingFlags statics = BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public;
        Assert.DoesNotContain(classes.SelectMany(type => type.GetFields(statics)), field => field.FieldType == typeof(Regex));
    }

    [Fact]
    public void Only_ping_and_get_logs_leave_the_main_thread()
    {
        var background = Own().All().Where(tool => tool.Lane == "background").Select(tool => tool.Name);
        Assert.Equal(new[] { "get-logs", "ping" }, background);
    }

    [Fact]
    public void Tools_of_a_project_are_found_and_named_after_their_class()
    {
        var tools = WithProject();
        Assert.False(tools.Get("count-components")!.BuiltIn);
        Assert.Equal("Fine (For development only.)", (string?)tools.Get("fixture-http-good")!.Details()["description"]);
    }

    [Theory]
    [InlineData(typeof(ToolFixtures.BadlyNamed), "its name \"Not Kebab\" is not in kebab-case")]
    [InlineData(typeof(ToolFixtures.TakesAReservedName), "belongs to the bridge")]
    [InlineData(typeof(ToolFixtures.AbstractOne), "it is abstract or generic")]
    [InlineData(typeof(ToolFixtures.NoTool), "it does not implement IUnityTool")]
    [InlineData(typeof(ToolFixtures.ThrowsInConstructor), "it cannot be constructed: no licence")]
    [InlineData(typeof(ToolFixtures.WantsTooMuch), "no public constructor for nothing or ToolServices")]
    [InlineData(typeof(ToolFixtures.HasNoSchema), "DateTime cannot be a parameter")]
    [InlineData(typeof(ToolFixtures.HasABrokenSchema), "schema file is missing")]
    [InlineData(typeof(ToolFixtures.HasAnArraySchema), "must be of type object")]
    [InlineData(typeof(ToolFixtures.TakesABuiltInName), "ping is the bridge's own already")]
    [InlineData(typeof(ToolFixtures.TwiceB), "fixture-twice is JobBroker.Bridge.Tests.Tools.ToolFixtures+TwiceA already")]
    public void A_wrong_tool_is_left_out_and_reported_while_the_others_are_there(Type type, string reason)
    {
        var tools = WithProject();
        Assert.Contains(reason, ReportOn(type));
        Assert.DoesNotContain(tools.All(), tool => tool.Tool.GetType() == type);
        Assert.NotNull(tools.Get("count-components"));
        Assert.True(tools.Get("ping")!.BuiltIn);
    }

    [Fact]
    public void Tools_for_development_are_listed_only_when_asked_for()
    {
        var tools = WithProject();
        Assert.DoesNotContain(tools.Details(false), tool => (string?)tool["name"] == "fixture-http-good");
        Assert.Contains(tools.Details(true), tool => (string?)tool["name"] == "fixture-http-good");
    }

    [Fact]
    public void In_development_mode_tools_for_development_are_listed_for_all_and_say_so()
    {
        var tools = Own();
        Assert.True(tools.Register(
            new ToolFixtures.Manual(), new McpToolAttribute { Description = "Looks.", DisplayDevelopmentOnly = true }));
        var changes = 0;
        tools.Changed += () => changes++;
        tools.ShowDevelopmentOnly(true);
        tools.ShowDevelopmentOnly(true);
        Assert.Equal(1, changes);
        var listed = tools.Details(false).Single(tool => (string?)tool["name"] == "manual");
        Assert.Equal("Looks. (For development only.)", (string?)listed["description"]);
        tools.ShowDevelopmentOnly(false);
        Assert.Equal(2, changes);
        Assert.DoesNotContain(tools.Details(false), tool => (string?)tool["name"] == "manual");
    }

    [Fact]
    public void Tools_know_their_assembly_and_the_package_that_it_came_with()
    {
        var tools = new UnityToolRegistry(
            editor.Services, typeof(RegistryTests).Assembly.GetTypes(), reports.Add, assembly => "com." + assembly.GetName().Name);
        Assert.Equal((null, null), (tools.Get("ping")!.Assembly, tools.Get("ping")!.Package));
        Assert.Equal(("Core.Tests", "com.Core.Tests"), (tools.Get("count-components")!.Assembly, tools.Get("count-components")!.Package));
        Assert.True(tools.Register(new ToolFixtures.Manual(), new McpToolAttribute()));
        Assert.Equal("com.Core.Tests", tools.Get("manual")!.Package);
        Assert.Null(Own().Get("ping")!.Package);
    }

    [Fact]
    public void The_hash_changes_with_every_detail_and_comes_back_with_the_tools()
    {
        var tools = Own();
        var before = tools.Hash();
        Assert.Matches("^[0-9a-f]{16}$", before);
        Assert.Equal(before, Own().Hash());
        var seen = new HashSet<string> { before };
        foreach (var attribute in new[]
        {
            new McpToolAttribute(),
            new McpToolAttribute { Description = "d" },
            new McpToolAttribute { Title = "t" },
            new McpToolAttribute { Effect = ToolEffect.Idempotent },
            new McpToolAttribute { Destructive = true },
            new McpToolAttribute { OpenWorld = true },
            new McpToolAttribute { ExecutionClass = ExecutionClass.Long },
            new McpToolAttribute { Cancellable = true },
            new McpToolAttribute { DisplayDevelopmentOnly = true },
            new McpToolAttribute { Name = "other-name" },
        })
        {
            Assert.True(tools.Register(new ToolFixtures.Manual(), attribute));
            Assert.True(seen.Add(tools.Hash()), "a detail that the hash does not see");
            Assert.True(tools.Unregister(attribute.Name ?? "manual"));
            Assert.Equal(before, tools.Hash());
        }
    }

    [Fact]
    public void Registering_tells_of_every_change_and_of_nothing_else()
    {
        var tools = Own();
        var changes = 0;
        tools.Changed += () => changes++;
        Assert.True(tools.Register(new ToolFixtures.Manual(), new McpToolAttribute()));
        Assert.Equal(1, changes);
        Assert.False(tools.Register(new ToolFixtures.Manual(), new McpToolAttribute()));
        Assert.False(tools.Register(new ToolFixtures.Unmarked()));
        Assert.False(tools.Register(new ToolFixtures.TakesABuiltInName()));
        Assert.False(tools.Unregister("ping"));
        Assert.False(tools.Unregister("never-there"));
        Assert.Equal(1, changes);
        Assert.True(tools.Unregister("manual"));
        Assert.Equal(2, changes);
        Assert.Null(tools.Get("manual"));
        Assert.Equal(3, reports.Count);
    }

    [Fact]
    public void Nobody_can_change_what_others_are_told()
    {
        var tools = Own();
        var hash = tools.Hash();
        tools.Details(true)[0]!["name"] = "renamed-by-a-reader";
        tools.Get("ping")!.Details()["lane"] = "main";
        tools.Get("ping")!.Tool.InputSchema["type"] = "array";
        Assert.DoesNotContain("renamed-by-a-reader", tools.Details(true).ToString());
        Assert.Equal("background", (string?)tools.Get("ping")!.Details()["lane"]);
        Assert.Equal("object", (string?)tools.Get("ping")!.Tool.InputSchema["type"]);
        Assert.Equal(hash, tools.Hash());
    }

    [Fact]
    public void A_test_framework_that_cannot_stop_makes_run_tests_not_cancellable()
    {
        Assert.True(Own().Get("run-tests")!.Cancellable);
        editor.Tests.CanCancel = false;
        Assert.False(Own().Get("run-tests")!.Cancellable);
    }

    [Fact]
    public async Task Readers_see_whole_sets_while_tools_come_and_go()
    {
        var tools = Own();
        var own = tools.All().Count;
        using var stop = new CancellationTokenSource();
        var readers = Enumerable.Range(0, 3).Select(_ => Task.Run(() =>
        {
            var reads = 0;
            do
            {
                var names = tools.Details(true).Select(tool => (string?)tool["name"]).ToList();
                Assert.InRange(names.Count, own, own + 1);
                Assert.Equal(names.OrderBy(name => name, StringComparer.Ordinal), names);
                Assert.NotNull(tools.Get("ping"));
                Assert.Equal(16, tools.Hash().Length);
                reads++;
            }
            while (!stop.IsCancellationRequested);
            return reads;
        })).ToList();
        for (var round = 0; round < 50; round++)
        {
            Assert.True(tools.Register(new ToolFixtures.Manual(), new McpToolAttribute()));
            Assert.True(tools.Unregister("manual"));
        }
        stop.Cancel();
        Assert.All(await Task.WhenAll(readers), reads => Assert.True(reads > 0));
    }

    [Theory]
    [InlineData("BuildPlayerTool", "build-player")]
    [InlineData("GetURLCommand", "get-url")]
    [InlineData("Mesh2DTool", "mesh2-d")]
    [InlineData("My_FancyTool", "my-fancy")]
    [InlineData("My_Tool", "my")]
    [InlineData("Tool", "tool")]
    public void Class_names_become_kebab_case(string className, string name)
    {
        var module = System.Reflection.Emit.AssemblyBuilder
            .DefineDynamicAssembly(new System.Reflection.AssemblyName("names"), System.Reflection.Emit.AssemblyBuilderAccess.Run)
            .DefineDynamicModule("names");
        Assert.Equal(name, ToolName.FromClass(module.DefineType(className).CreateType()));
    }
}
