using System;
using System.IO;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Security;

public sealed class SecurityTests : IDisposable
{
    private static readonly Dictionary<string, SecuritySetting> Guarded = new()
    {
        ["run-tests"] = SecuritySetting.TestExecution,
        ["execute-menu-item"] = SecuritySetting.MenuItemExecution,
        ["execute-code"] = SecuritySetting.CodeExecution,
        ["build-player"] = SecuritySetting.BuildExecution,
        ["set-build-target"] = SecuritySetting.BuildExecution,
        ["control-play-mode"] = SecuritySetting.PlayModeControl,
        ["manage-assets"] = SecuritySetting.AssetEditing,
        ["manage-packages"] = SecuritySetting.PackageManagement,
        ["open-scene"] = SecuritySetting.SceneEditing,
        ["save-scene"] = SecuritySetting.SceneEditing,
        ["create-scene"] = SecuritySetting.SceneEditing,
        ["create-game-object"] = SecuritySetting.SceneEditing,
        ["modify-game-object"] = SecuritySetting.SceneEditing,
        ["delete-game-object"] = SecuritySetting.SceneEditing,
        ["add-component"] = SecuritySetting.SceneEditing,
        ["modify-component"] = SecuritySetting.SceneEditing,
        ["remove-component"] = SecuritySetting.SceneEditing,
        ["run-batch"] = SecuritySetting.SceneEditing,
    };

    private readonly InMemoryEditor editor = new();
    private readonly McpSecurityChecker checker;
    private readonly UnityToolRegistry tools;

    public SecurityTests()
    {
        tools = new UnityToolRegistry(editor.Services, [], report => Assert.Fail(report));
        checker = new McpSecurityChecker(tools, editor.Security);
    }

    public void Dispose() => editor.Dispose();

    private string? Refusal(string tool, object? arguments = null) =>
        checker.Refusal(tool, JObject.FromObject(arguments ?? new object()));

    [Fact]
    public void By_default_all_may_run_but_what_runs_other_peoples_code_or_edits_the_project()
    {
        foreach (var tool in tools.All())
        {
            Assert.Equal(Guarded.ContainsKey(tool.Name), Refusal(tool.Name) != null);
        }
    }

    [Fact]
    public void Reading_play_mode_needs_no_setting_unless_the_tool_is_denied_by_name()
    {
        Assert.Null(Refusal("control-play-mode", new { Action = "State" }));
        Assert.NotNull(Refusal("control-play-mode", new { Action = "Enter" }));
        Assert.NotNull(Refusal("control-play-mode", JObject.Parse("{\"Action\":\"State\",\"action\":\"Enter\"}")));
        editor.Security.Current = new SecuritySnapshot { Choices = ToolChoices.None.WithTool("control-play-mode", false) };
        Assert.NotNull(Refusal("control-play-mode", new { Action = "State" }));
    }

    [Fact]
    public void Each_setting_opens_its_own_tools_alone()
    {
        foreach (var setting in SecurityPlace.All)
        {
            editor.Security.Current = SecuritySnapshot.Allowing(setting);
            var opened = Guarded.Keys.Where(tool => Refusal(tool) == null);
            Assert.Equal(Guarded.Keys.Where(tool => Guarded[tool] == setting), opened);
        }
    }

    [Theory]
    [InlineData("run-tests", "Enable Tests Execution")]
    [InlineData("execute-menu-item", "Allow Menu Item Execution")]
    [InlineData("execute-code", "Allow Code Execution")]
    [InlineData("build-player", "Allow Player Builds")]
    public void A_refusal_names_the_setting_and_its_place(string tool, string setting) => Assert.Equal(
        $"{tool} is blocked: switch on \"{setting}\" in Unity under Window > Unity Job Broker, section Security "
        + $"(or {tool} alone, section Tools).",
        Refusal(tool));

    [Fact]
    public void Unknown_tools_are_denied()
    {
        editor.Security.Current = SecuritySnapshot.Allowing(SecurityPlace.All.ToArray());
        foreach (var tool in new[] { "never-heard-of", "", "PING", "ping ", "get-tool-details" })
        {
            Assert.Contains("unknown tools are denied", Refusal(tool));
        }
    }

    [Fact]
    public void A_tool_of_the_project_obeys_the_setting_that_it_names()
    {
        var attribute = new McpToolAttribute { RequiredSecuritySetting = SecuritySetting.CodeExecution };
        Assert.True(tools.Register(new JobBroker.Bridge.Tests.Tools.ToolFixtures.Manual(), attribute));
        Assert.Contains("Allow Code Execution", Refusal("manual"));
        editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.CodeExecution);
        Assert.Null(Refusal("manual"));
    }

    [Fact]
    public void Items_that_end_or_replace_the_editor_are_denied_by_default_in_any_spelling()
    {
        editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.MenuItemExecution);
        foreach (var path in new[]
        {
            "File/Exit", "file/exit", "File / Exit", "/File//Exit/", "File/Quit", "Edit/Quit", "Unity/Quit Unity",
            "File/Open Project...", "File/New Project...", "Assets/Reimport All",
        })
        {
            Assert.NotNull(Refusal("execute-menu-item", new { MenuItemPath = path }));
            Assert.NotNull(Refusal("execute-menu-item", new { menuItemPath = path }));
            Assert.NotNull(Refusal("execute-menu-item", new { MENUITEMPATH = path }));
            Assert.NotNull(Refusal("execute-menu-item", new { MenuItemPath = "Assets/Refresh", menuItemPath = path }));
        }
        Assert.Null(Refusal("execute-menu-item", new { MenuItemPath = "Assets/Refresh" }));
        Assert.Null(Refusal("execute-menu-item", new { MenuItemPath = "File/Save Project" }));
        Assert.Null(Refusal("execute-menu-item", new { MenuItemPath = 7 }));
    }

    [Theory]
    [InlineData("Tools/Bake", true)]
    [InlineData("Tools/Bake/All", true)]
    [InlineData("tools/bake", true)]
    [InlineData("Tools/Danger", false)]
    [InlineData("Tools/Sub/Danger zone", false)]
    [InlineData("Tools", false)]
    [InlineData("Assets/Refresh", false)]
    [InlineData("Assets/Build 1", true)]
    [InlineData("Assets/Build 10", false)]
    [InlineData("ToolsX/Bake", false)]
    [InlineData("", false)]
    public void Denying_wins_and_an_allow_list_shuts_out_the_rest(string path, bool mayRun)
    {
        var policy = new MenuItemPolicy(new[] { "Tools/*", "Assets/Build ?", " " }, new[] { "*Danger*" });
        Assert.Equal(mayRun, policy.Refusal(path) == null);
    }

    [Fact]
    public void A_glob_of_many_stars_ends_soon()
    {
        var glob = string.Concat(Enumerable.Repeat("*a", 200)) + "b";
        var policy = new MenuItemPolicy(Array.Empty<string>(), new[] { glob });
        Assert.Null(policy.Refusal(new string('a', 5000)));
    }

    [Fact]
    public async Task A_change_counts_at_once_on_every_thread()
    {
        Assert.NotNull(await Task.Run(() => Refusal("execute-code")));
        editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.CodeExecution);
        Assert.Null(await Task.Run(() => Refusal("execute-code")));
    }
}
