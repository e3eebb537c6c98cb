using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class MenuToolsTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public MenuToolsTests()
    {
        editor.Menu.Add("Assets/Refresh", priority: 4);
        editor.Menu.Add("File/Exit");
        editor.Menu.Add("Tools/Break", () => throw new InvalidOperationException("broken"));
        editor.Menu.Listed.Add(new MenuItemEntry(
            "Tools/Hidden", typeof(Studio).FullName + ".Hidden", typeof(Studio).Assembly.GetName().Name));
        editor.Menu.Listed.Add(new MenuItemEntry("Tools/Hidden", "Studio.CanHide", "Studio", true));
    }

    public void Dispose() => editor.Dispose();

    private ExecuteMenuItemTool Execute => new(editor.Services);

    [Fact]
    public async Task Get_menu_items_filters_and_says_what_is_denied()
    {
        var tool = new GetMenuItemsTool(editor.Services);
        async Task<string> Paths(object arguments) =>
            string.Join(
                ",",
                (await new ToolCall().Run(tool, arguments))["MenuItems"]!.Select(one => (string)one["Path"]!));

        Assert.Equal("Assets/Refresh,File/Exit,Tools/Break,Tools/Hidden", await Paths(new { }));
        Assert.Equal(
            "Assets/Refresh,File/Exit,Tools/Break,Tools/Hidden,Tools/Hidden",
            await Paths(new { IncludeValidation = true }));
        Assert.Equal("Tools/Break,Tools/Hidden", await Paths(new { FilterText = "TOOLS" }));
        Assert.Equal("Assets/Refresh", await Paths(new { FilterText = "assets", FilterType = "startswith" }));
        Assert.Equal("", await Paths(new { FilterText = "Assets", FilterType = "exact" }));
        var two = await new ToolCall().Run(tool, new { MaxCount = 2 });
        Assert.Equal(4, (int)two["TotalCount"]!);
        Assert.Null(two["MenuItems"]![0]!["Denied"]);
        Assert.Contains("denied by \"File/Exit\"", (string?)two["MenuItems"]![1]!["Denied"]);
    }

    [Fact]
    public async Task An_item_runs_once()
    {
        var answer = await new ToolCall().Run(Execute, new { MenuItemPath = "Assets/Refresh" });
        Assert.Equal(
            """{"Success":true,"MenuItemPath":"Assets/Refresh","ExecutionMethod":"EditorApplication"}""",
            answer.ToString(Formatting.None));
        Assert.Equal(new[] { "Assets/Refresh" }, editor.Menu.Executed);
    }

    [Fact]
    public async Task A_denied_item_never_runs_even_when_the_call_got_this_far()
    {
        foreach (var path in new[] { "File/Exit", "file/exit", " File / Exit ", "/File//Exit" })
        {
            Assert.Equal("security_blocked", (await ToolCall.Fails(Execute, new { MenuItemPath = path })).Type);
        }
        editor.Security.Current = new SecuritySnapshot { MenuItems = new MenuItemPolicy(["GameObject/*"], []) };
        Assert.Equal("security_blocked", (await ToolCall.Fails(Execute, new { MenuItemPath = "Assets/Refresh" })).Type);
        Assert.Empty(editor.Menu.Executed);
    }

    [Fact]
    public async Task A_failing_item_is_told_with_its_stack()
    {
        var error = await ToolCall.Fails(Execute, new { MenuItemPath = "Tools/Break" });
        Assert.Equal("menu_item_failed", error.Type);
        Assert.Equal("The menu item Tools/Break threw InvalidOperationException: broken. What it did before that stays done: look before you call again.", error.Message);
        Assert.Contains(nameof(MenuToolsTests), error.StackTrace);
    }

    [Fact]
    public async Task An_item_that_only_a_script_knows_runs_by_its_method()
    {
        var before = Studio.Hides;
        var answer = await new ToolCall().Run(Execute, new { MenuItemPath = "Tools/Hidden" });
        Assert.Equal("Reflection", (string?)answer["ExecutionMethod"]);
        Assert.Equal(before + 1, Studio.Hides);
        var without = await ToolCall.Fails(Execute, new { MenuItemPath = "Tools/Hidden", UseReflectionFallback = false });
        Assert.Equal("menu_item_not_found", without.Type);
        Assert.Equal(before + 1, Studio.Hides);
    }

    [Fact]
    public async Task An_unknown_or_empty_path_is_refused()
    {
        Assert.Equal("menu_item_not_found", (await ToolCall.Fails(Execute, new { MenuItemPath = "Tools/Moon" })).Type);
        Assert.Equal("invalid_arguments", (await ToolCall.Fails(Execute, new { MenuItemPath = " " })).Type);
        Assert.Equal("MenuItemPath is missing.", (await ToolCall.Fails(Execute)).Message);
    }

    private static class Studio
    {
        public static int Hides { get; private set; }

        private static void Hidden(object? command)
        {
            Assert.Null(command);
            Hides++;
        }
    }
}
