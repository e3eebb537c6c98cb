#nullable enable
using System;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Security;
using Xunit;

namespace JobBroker.Bridge.Tests.Security;

public sealed class BuildFolderPolicyTests : IDisposable
{
    private readonly string home = Directory.CreateTempSubdirectory("jb-builds-").FullName;
    private readonly string project;

    public BuildFolderPolicyTests()
    {
        project = Made("Game");
        Made("Game/Assets");
        Made("Game/Library");
        Made("elsewhere");
    }

    public void Dispose() => Directory.Delete(home, true);

    private string Made(string path) => Directory.CreateDirectory(Path.Combine(home, path)).FullName;

    private void Link(string path, string target) => File.CreateSymbolicLink(Path.Combine(home, path), target);

    private string? Refusal(string output, params string[] folders) =>
        new BuildFolderPolicy(folders).Refusal(project, output);

    [Theory]
    [InlineData("Builds/Android/Game.apk")]
    [InlineData("Game.apk")]
    [InlineData("Out/../Builds")]
    [InlineData("AssetsOut/Game.exe")]
    [InlineData("Builds/Assets")]
    [InlineData("Builds/.hidden")]
    public void A_player_goes_anywhere_else_in_the_project(string output)
    {
        Assert.Null(Refusal(output));
        Assert.Null(Refusal(Path.Combine(project, output)));
    }

    [Theory]
    [InlineData("Assets")]
    [InlineData("Assets/StreamingAssets/Game.exe")]
    [InlineData("assets/Game.exe")]
    [InlineData("Assets./Game.exe")]
    [InlineData("Builds/../Assets/Game.exe")]
    [InlineData("Library/ScriptAssemblies")]
    [InlineData("Packages/mine")]
    [InlineData("ProjectSettings/x.asset")]
    [InlineData("UserSettings/x.asset")]
    [InlineData(".git/hooks/pre-commit.exe")]
    [InlineData(".")]
    [InlineData("")]
    public void Not_among_what_the_project_is_made_of(string output)
    {
        Assert.Contains("the project's own files", Refusal(output));
        Assert.Contains("the project's own files", Refusal(output, "Assets", ".", "/"));
    }

    [Theory]
    [InlineData("..")]
    [InlineData("../elsewhere/Game.apk")]
    [InlineData("../Game2/Game.apk")]
    [InlineData("/tmp/Game.apk")]
    [InlineData("/Game.apk")]
    public void Not_outside_of_the_project(string output) => Assert.Contains("outside of the allowed folders", Refusal(output));

    [Fact]
    public void The_refusal_says_which_folders_are_allowed_and_where_to_change_that()
    {
        var refusal = Refusal("/etc/cron.d/x", "../elsewhere")!;
        Assert.Contains("/etc/cron.d/x", refusal);
        Assert.Contains(project, refusal);
        Assert.Contains("../elsewhere", refusal);
        Assert.Contains(SecurityPlace.Window, refusal);
    }

    [Fact]
    public void An_allowed_folder_is_allowed_with_what_is_below_it_and_nothing_else()
    {
        var elsewhere = Path.Combine(home, "elsewhere");
        foreach (var folder in new[] { elsewhere, elsewhere + "/", "../elsewhere", "../Game/../elsewhere" })
        {
            Assert.Null(Refusal(Path.Combine(elsewhere, "Android", "Game.apk"), folder));
            Assert.NotNull(Refusal(elsewhere, folder));
            Assert.NotNull(Refusal(elsewhere + "2/Game.apk", folder));
        }
        Assert.Null(Refusal(Path.Combine(home, "to-be-made", "Game.apk"), "../to-be-made"));
    }

    [Fact]
    public void Links_are_followed()
    {
        Link("Game/out", Path.Combine(home, "elsewhere"));
        Assert.Contains("outside", Refusal("out/Game.apk"));
        Assert.Null(Refusal("out/Game.apk", "../elsewhere"));
        Link("Game/in", Path.Combine(project, "Assets"));
        Assert.Contains("the project's own files", Refusal("in/Game.exe"));
        Link("Game/nowhere", Path.Combine(home, "not-there-yet"));
        Assert.Contains("a link that leads nowhere", Refusal("nowhere"));
        Assert.Contains("a link that leads nowhere", Refusal("nowhere/Game.apk"));
        Link("short", project);
        Assert.Null(new BuildFolderPolicy([]).Refusal(Path.Combine(home, "short"), "Builds/Game.apk"));
        Link("chosen", Path.Combine(home, "elsewhere"));
        Assert.Null(Refusal(Path.Combine(home, "elsewhere", "Game.apk"), Path.Combine(home, "chosen")));
    }

    [Fact]
    public void A_folder_of_the_project_that_is_kept_elsewhere_is_no_place_either()
    {
        var far = Made("far/Packages");
        Link("Game/Packages", far);
        Assert.Contains("the project's own files", Refusal("Packages/mine", far));
        Assert.Contains("the project's own files", Refusal(Path.Combine(far, "mine"), Path.Combine(home, "far")));
        Assert.Null(Refusal(Path.Combine(home, "far", "Game.apk"), Path.Combine(home, "far")));
    }

    [Fact]
    public void A_project_that_is_not_on_the_disk_has_places_all_the_same()
    {
        Assert.Null(new BuildFolderPolicy([]).Refusal("/nowhere/Game", "/nowhere/Game/Builds/x.apk"));
        Assert.NotNull(new BuildFolderPolicy([]).Refusal("/nowhere/Game", "/nowhere/Game/Assets/x.apk"));
        Assert.NotNull(new BuildFolderPolicy([]).Refusal("/nowhere/Game", "/nowhere/x.apk"));
    }
}
