using System.Linq;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Security;

public sealed class BatchPermissionsTests
{
    private static readonly BridgeSettings All = new() { Allowed = SecurityPlace.All };

    private static readonly string Everything = string.Join(",", SecurityPlace.Words);

    /// <summary>The switches that are on, as words; the user's where nothing is named.</summary>
    private static string On(BatchPermissions? permissions, BridgeSettings saved)
    {
        var current = permissions?.Over(saved) ?? saved.Security();
        return string.Join(",", SecurityPlace.All.Where(current.IsOn).Select(SecurityPlace.WordOf));
    }

    [Theory]
    [InlineData(null, "", "")]
    [InlineData("", "", "")]
    [InlineData("tests, Builds", "", "tests,builds")]
    [InlineData(null, "-brokerAllow code", "code")]
    [InlineData(null, "-BROKERALLOW tests -quit -brokerAllow menu-items,builds", "tests,menu-items,builds")]
    [InlineData("tests", "-brokerAllow builds", "builds")]
    [InlineData("tests", "-brokerAllow none", "")]
    [InlineData("none", "", "")]
    public void In_batch_mode_those_are_on_that_are_named(string? environment, string words, string expected)
    {
        var permissions = BatchPermissions.Of(environment, Words(words), true, out var fault);
        Assert.Null(fault);
        Assert.Equal(expected, On(permissions, new BridgeSettings()));
        // What a user has saved on this machine neither adds to them nor takes away.
        var isNamed = permissions != null;
        Assert.Equal(isNamed ? expected : Everything, On(permissions, All));
        Assert.Equal(isNamed, permissions?.Over(All).IsBatch == true);
    }

    [Theory]
    [InlineData("tests,code", "")]
    [InlineData(null, "-brokerAllow tests,menu-items,code,builds")]
    [InlineData("none", "-brokerAllow none")]
    public void An_editor_with_windows_is_neither_opened_nor_closed_by_them(string? environment, string words)
    {
        var permissions = BatchPermissions.Of(environment, Words(words), false, out var fault);
        Assert.Null(permissions);
        Assert.Contains("counts in batch mode only", fault);
        Assert.Equal("", On(permissions, new BridgeSettings()));
        Assert.Equal(Everything, On(permissions, All));
    }

    [Theory]
    [InlineData("tests,all!", "", "tests", "all!")]
    [InlineData("*", "", "", "*")]
    [InlineData(null, "-brokerAllow Test:,builds,assembly:", "builds", "Test:, assembly:")]
    public void A_word_that_can_name_nothing_allows_nothing_and_is_said(string? environment, string words, string expected, string said)
    {
        var permissions = BatchPermissions.Of(environment, Words(words), true, out var fault);
        Assert.Equal(expected, On(permissions, All));
        Assert.Contains($"names {said}, which allows nothing. Known are {string.Join(", ", SecurityPlace.Words)}, the names of tools, ", fault);
    }

    [Fact]
    public void Tools_and_assemblies_are_named_beside_the_switches()
    {
        var saved = new BridgeSettings { Choices = ToolChoices.Of(["execute-code", "assembly:Saved"]) };
        var named = BatchPermissions.Of(null, Words("-brokerAllow tests,-run-tests,save-scene,assembly:Game.Tools"), true, out var fault)!;
        Assert.Null(fault);
        Assert.Equal("tests", On(named, All));
        Assert.Equal(["-run-tests", "assembly:Game.Tools", "save-scene"], named.Over(saved).Choices.Words);
        Assert.Empty(BatchPermissions.Of("none", [], true, out _)!.Over(saved).Choices.Words);
        Assert.Equal(["assembly:Saved", "execute-code"], saved.Security(true).Choices.Words);
    }

    [Fact]
    public void An_argument_without_words_allows_nothing()
    {
        Assert.Equal("", On(BatchPermissions.Of("tests", ["-brokerAllow"], true, out _), All));
        Assert.Equal("", On(BatchPermissions.Of("tests", ["-brokerAllow", "-nographics"], true, out _), All));
    }

    [Fact]
    public void The_lists_of_menu_items_and_folders_stay()
    {
        var saved = new BridgeSettings
        {
            DeniedMenuItems = ["Tools/*"], AllowedMenuItems = ["Build/*"], BuildFolders = ["/mnt"],
        };
        var current = BatchPermissions.Of("menu-items", [], true, out _)!.Over(saved);
        Assert.NotNull(current.MenuItems.Refusal("Tools/Wipe"));
        Assert.NotNull(current.MenuItems.Refusal("Other/Thing"));
        Assert.Null(current.MenuItems.Refusal("Build/Android"));
        Assert.Equal(["/mnt"], current.BuildFolders.Folders);
    }

    [Theory]
    [InlineData("run-tests", "tests")]
    [InlineData("execute-menu-item", "menu-items")]
    [InlineData("execute-code", "code")]
    [InlineData("build-player", "builds")]
    public void A_refusal_in_batch_mode_says_how_to_start_the_editor(string tool, string word)
    {
        using var editor = new InMemoryEditor();
        var tools = new UnityToolRegistry(editor.Services, [], report => Assert.Fail(report));
        var checker = new McpSecurityChecker(tools, editor.Security);
        editor.Security.Current = BatchPermissions.Of("none", [], true, out _)!.Over(All);
        Assert.StartsWith(
            $"{tool} is blocked: start this Editor with -brokerAllow {word} or UNITY_BROKER_ALLOW={word}",
            checker.Refusal(tool, new JObject()));
        editor.Security.Current = BatchPermissions.Of(word, [], true, out _)!.Over(new BridgeSettings());
        Assert.Null(checker.Refusal(tool, new JObject()));
    }

    private static string[] Words(string words) => words.Split(' ');
}
