using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Project;

public sealed class ManageAssetsToolTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public ManageAssetsToolTests()
    {
        editor.Assets.Add("Assets/Art", "DefaultAsset", true);
        editor.Assets.Add("Assets/Art/Rock.mat", "Material");
        editor.Assets.Add("Assets/Old", "DefaultAsset", true);
        editor.Assets.Add("Assets/Old/Rock.mat", "Material");
        editor.Assets.Add("Packages/com.studio.rocks/Stone.mat", "Material");
    }

    public void Dispose() => editor.Dispose();

    private InMemoryAssets Assets => editor.Assets;

    private ManageAssetsTool Tool => new(editor.Services);

    [Fact]
    public async Task An_asset_moves_to_a_new_path_or_into_a_folder_and_keeps_its_guid()
    {
        var guid = Assets.Get("Assets/Art/Rock.mat")!.Guid;
        var answer = await Run(new { Action = "move", Path = "Assets/Art/Rock.mat", Destination = "Assets/Stone.mat" });
        Assert.Equal(("Assets/Stone.mat", guid, "Material"), ((string)answer["Path"]!, (string)answer["Guid"]!, (string)answer["Type"]!));
        Assert.False((bool)answer["Undo"]!);
        await Run(new { Action = "Move", Path = "Assets\\Stone.mat", Destination = "Assets/Art/" });
        Assert.Equal(guid, Assets.Get("Assets/Art/Stone.mat")!.Guid);
    }

    [Fact]
    public async Task Nothing_is_replaced_unless_it_is_told_and_then_the_old_one_is_in_the_trash()
    {
        var move = new { Action = "Move", Path = "Assets/Art/Rock.mat", Destination = "Assets/Old" };
        var refused = await ToolCall.Fails(Tool, move);
        Assert.Equal("asset_exists", refused.Type);
        Assert.Contains("There is Assets/Old/Rock.mat already (Material)", refused.Message);
        Assert.Empty(Assets.Done);

        var answer = await Run(new { Action = "Move", Path = "Assets/Art/Rock.mat", Destination = "Assets/Old", Overwrite = true });
        Assert.Equal("Assets/Old/Rock.mat", (string)answer["Trashed"]!);
        Assert.Equal(["Trash Assets/Old/Rock.mat", "Move Assets/Art/Rock.mat Assets/Old/Rock.mat"], Assets.Done);
    }

    [Fact]
    public async Task A_file_that_is_not_imported_is_not_replaced_either()
    {
        Assets.OnDisk.Add("Assets/New.mat");
        var refused = await ToolCall.Fails(
            Tool, new { Action = "Copy", Path = "Assets/Art/Rock.mat", Destination = "Assets/New.mat", Overwrite = true });
        Assert.Equal("asset_exists", refused.Type);
        Assert.Contains("Refresh imports it", refused.Message);
        Assert.Contains("Refresh first", (await ToolCall.Fails(Tool, new { Action = "Delete", Path = "Assets/New.mat" })).Message);
        Assert.Empty(Assets.Done);
    }

    [Fact]
    public async Task A_new_spelling_of_the_same_name_does_not_put_the_asset_itself_into_the_trash()
    {
        Assets.IgnoresCase = true;
        var answer = await Run(
            new { Action = "Move", Path = "Assets/Art/Rock.mat", Destination = "Assets/Art/rock.mat", Overwrite = true });
        Assert.Null(answer["Trashed"]);
        Assert.Equal(["Move Assets/Art/Rock.mat Assets/Art/rock.mat"], Assets.Done);
    }

    [Fact]
    public async Task A_copy_to_another_spelling_of_its_own_name_does_not_put_the_asset_into_the_trash()
    {
        Assets.IgnoresCase = true;
        var refused = await ToolCall.Fails(
            Tool, new { Action = "Copy", Path = "Assets/Art/Rock.mat", Destination = "Assets/Art/rock.mat", Overwrite = true });
        Assert.Equal("invalid_arguments", refused.Type);
        Assert.Empty(Assets.Done);
    }

    [Fact]
    public async Task A_folder_is_never_replaced_nor_moved_into_itself()
    {
        Assets.Add("Assets/Old/Art", "DefaultAsset", true);
        var there = await ToolCall.Fails(
            Tool, new { Action = "Move", Path = "Assets/Art", Destination = "Assets/Old", Overwrite = true });
        Assert.Equal("asset_exists", there.Type);
        foreach (var inside in new[] { "Assets/Art", "Assets/Art/Deeper" })
        {
            var refused = await ToolCall.Fails(Tool, new { Action = "Move", Path = "Assets/Art", Destination = inside });
            Assert.Equal("invalid_arguments", refused.Type);
        }
        Assert.Empty(Assets.Done);
    }

    [Theory]
    [InlineData("../Secrets.mat")]
    [InlineData("Assets/../ProjectSettings/A.asset")]
    [InlineData("Assets/./Rock.mat")]
    [InlineData("/etc/passwd")]
    [InlineData("C:/Windows/a.mat")]
    [InlineData("C:\\Windows\\a.mat")]
    [InlineData("Library/a.mat")]
    [InlineData("assets/a.mat")]
    [InlineData("Assets//a.mat")]
    [InlineData("Assets/.hidden/a.mat")]
    [InlineData("Assets/Off~/a.mat")]
    [InlineData("Assets/a.mat.meta")]
    [InlineData("Assets/a?.mat")]
    [InlineData("Assets/a.")]
    [InlineData("Assets")]
    [InlineData("Packages/com.studio.rocks/Stone.mat")]
    [InlineData("")]
    public async Task Only_paths_below_Assets_are_changed(string path)
    {
        foreach (var action in new[] { "Move", "Delete", "CreateFolder", "CreateMaterial", "CreatePrefab" })
        {
            var refused = await ToolCall.Fails(Tool, new { Action = action, Path = path, Destination = "Assets/b", Target = "/Root" });
            Assert.Equal("invalid_arguments", refused.Type);
        }
        if (path != "Assets")
        {
            var refused = await ToolCall.Fails(Tool, new { Action = "Copy", Path = "Assets/Art/Rock.mat", Destination = path });
            Assert.Equal("invalid_arguments", refused.Type);
        }
        Assert.Empty(Assets.Done);
    }

    [Fact]
    public async Task A_packages_asset_may_be_copied_but_not_changed()
    {
        await Run(new { Action = "Copy", Path = "Packages/com.studio.rocks/Stone.mat", Destination = "Assets/Art" });
        Assert.NotNull(Assets.Get("Assets/Art/Stone.mat"));
        var refused = await ToolCall.Fails(Tool, new { Action = "Delete", Path = "Packages/com.studio.rocks/Stone.mat" });
        Assert.Contains("packages are only read", refused.Message);
    }

    [Theory]
    [InlineData("Delete", "Assets/Shared/Rock.mat", "")]
    [InlineData("Move", "Assets/Art/Rock.mat", "Assets/Shared/Rock.mat")]
    [InlineData("Move", "Assets/Shared/Rock.mat", "Assets/Art/Other.mat")]
    [InlineData("Copy", "Assets/Art/Rock.mat", "Assets/Shared/Rock.mat")]
    [InlineData("CreateFolder", "Assets/Shared/New", "")]
    [InlineData("CreateMaterial", "Assets/Shared/New.mat", "")]
    [InlineData("CreatePrefab", "Assets/Shared/New.prefab", "")]
    public async Task Nothing_is_written_behind_a_link(string action, string path, string destination)
    {
        Assets.Add("Assets/Shared", "DefaultAsset", true);
        Assets.Add("Assets/Shared/Rock.mat", "Material");
        Assets.Links.Add("Assets/Shared");
        var refused = await ToolCall.Fails(Tool, new { Action = action, Path = path, Destination = destination });
        Assert.Equal("invalid_arguments", refused.Type);
        Assert.Contains("leads through Assets/Shared, a link on the disk", refused.Message);
        Assert.Empty(Assets.Done);
    }

    [Fact]
    public async Task What_is_deleted_goes_to_the_trash()
    {
        var answer = await Run(new { Action = "Delete", Path = "Assets/Old" });
        Assert.Equal("Assets/Old", (string)answer["Trashed"]!);
        Assert.Equal(["Assets/Old"], Assets.Trash);
        var gone = await ToolCall.Fails(Tool, new { Action = "Delete", Path = "Assets/Old/Rock.mat" });
        Assert.Equal("asset_not_found", gone.Type);
        Assert.Contains("Did you mean Assets/Art/Rock.mat?", gone.Message);
    }

    [Fact]
    public async Task Unitys_refusal_is_told_with_what_was_done_before_it()
    {
        Assets.Refusal = "Checked out by somebody.";
        var refused = await ToolCall.Fails(Tool, new { Action = "Delete", Path = "Assets/Old" });
        Assert.Equal("asset_refused", refused.Type);
        Assert.Equal(
            "Unity did not move Assets/Old to the trash: Checked out by somebody. Nothing was deleted.", refused.Message);
        Assets.Refusal = null;
        var shader = await ToolCall.Fails(
            Tool, new { Action = "CreateMaterial", Path = "Assets/Art/Rock.mat", Shader = "Nope", Overwrite = true });
        Assert.EndsWith("There is no shader Nope. What was there before is in the trash.", shader.Message);
    }

    [Fact]
    public async Task A_folder_is_made_with_those_above_it()
    {
        var answer = await Run(new { Action = "CreateFolder", Path = "Assets/A/B/C" });
        Assert.Equal(["Folder Assets/A", "Folder Assets/A/B", "Folder Assets/A/B/C"], Assets.Done);
        Assert.Equal("Assets/A/B/C", (string)answer["Path"]!);
        Assert.Contains("already", (string)(await Run(new { Action = "CreateFolder", Path = "Assets/A/B" }))["Message"]!);
        var file = await ToolCall.Fails(Tool, new { Action = "CreateFolder", Path = "Assets/Art/Rock.mat/New" });
        Assert.Equal("asset_exists", file.Type);
        Assert.Equal(3, Assets.Done.Count);
    }

    [Fact]
    public async Task Materials_and_prefabs_are_made_where_their_folder_is()
    {
        await Run(new { Action = "CreateMaterial", Path = "Assets/Art/Red.mat", Shader = "Studio/Toon" });
        var nowhere = await ToolCall.Fails(Tool, new { Action = "CreateMaterial", Path = "Assets/None/Red.mat" });
        Assert.Equal("There is no folder Assets/None; CreateFolder makes it.", nowhere.Message);
        var name = await ToolCall.Fails(Tool, new { Action = "CreateMaterial", Path = "Assets/Art/Red" });
        Assert.Contains("must end in .mat", name.Message);

        editor.Scene.RootObjects.Add(InMemoryScene.Object(
            "Root", children: [InMemoryScene.Object("Root/Twin"), InMemoryScene.Object("Root/Twin"), InMemoryScene.Object("Root/One")]));
        await Run(new { Action = "CreatePrefab", Path = "Assets/Art/One.prefab", Target = "One" });
        var there = await ToolCall.Fails(Tool, new { Action = "CreatePrefab", Path = "Assets/Art/One.prefab", Target = "/Root" });
        Assert.Equal("asset_exists", there.Type);
        var replaced = await Run(
            new { Action = "CreatePrefab", Path = "Assets/Art/One.prefab", Target = "/Root", Overwrite = true });
        Assert.Null(replaced["Trashed"]);
        Assets.OnDisk.Add("Assets/Art/Found.prefab");
        var unimported = await ToolCall.Fails(
            Tool, new { Action = "CreatePrefab", Path = "Assets/Art/Found.prefab", Target = "/Root", Overwrite = true });
        Assert.Contains("A file that is not imported", unimported.Message);
        Assert.Equal(
            ["Material Assets/Art/Red.mat Studio/Toon", "Prefab Root/One Assets/Art/One.prefab", "Prefab Root Assets/Art/One.prefab"],
            Assets.Done);
        var twins = await ToolCall.Fails(Tool, new { Action = "CreatePrefab", Path = "Assets/Art/T.prefab", Target = "Twin" });
        Assert.Equal("game_object_ambiguous", twins.Type);
        var none = await ToolCall.Fails(Tool, new { Action = "CreatePrefab", Path = "Assets/Art/T.prefab", Target = "Nobody" });
        Assert.Equal("game_object_not_found", none.Type);
    }

    [Fact]
    public async Task A_change_without_scripts_ends_at_once()
    {
        var answer = await Run(new { Action = "Refresh" });
        Assert.True((bool)answer["Success"]!);
        Assert.Null(answer["Compiled"]);
        Assert.Equal("Reimport Assets/Art", await Do(new { Action = "Reimport", Path = "Assets/Art" }));
    }

    [Fact]
    public async Task A_change_of_scripts_ends_with_their_compilation_and_a_reload_finds_its_answer()
    {
        editor.Compiler.IsPending = true;
        var call = new ToolCall();
        var running = call.Run(Tool, new { Action = "Refresh" });
        Assert.False(running.IsCompleted);
        Assert.True((bool)call.Record!["Success"]!);
        editor.Compiler.End(new CompileOutcome(true, [], true));
        var answer = await running;
        Assert.True((bool)answer["ReloadFollows"]!);
        Assert.True(call.Context.ReloadAnnounced);
        var after = (JToken?)await Tool.ResumeAsync(new JObject(), JToken.Parse(call.Record!.ToString()), new ToolCall().Context);
        Assert.True(JToken.DeepEquals(answer, after));
        Assert.Equal(["Refresh"], Assets.Done);
    }

    [Fact]
    public async Task Scripts_that_do_not_compile_do_not_make_the_change_undone()
    {
        editor.Compiler.IsPending = true;
        var running = new ToolCall().Run(Tool, new { Action = "Delete", Path = "Assets/Old" });
        var errors = Enumerable.Range(1, 7).Select(line => new CompilerMessage(true, "CS0246", "Assets/A.cs", line, 1));
        editor.Compiler.End(new CompileOutcome(true, errors.ToArray(), false));
        var answer = await running;
        Assert.True((bool)answer["Success"]!);
        Assert.Equal(7, (int)answer["CompileErrors"]!);
        Assert.Equal([1, 2, 3, 4, 5], answer["Errors"]!.Select(error => (int)error["Line"]!));
        Assert.Contains("do not compile", (string)answer["Message"]!);
    }

    [Fact]
    public async Task A_reload_before_the_change_is_an_interruption()
    {
        var error = await Assert.ThrowsAsync<ToolException>(
            () => Tool.ResumeAsync(new JObject(), null, new ToolCall().Context));
        Assert.Equal("domain_reload", error.Type);
        Assert.Empty(Assets.Done);
    }

    private Task<JToken> Run(object arguments) => new ToolCall().Run(Tool, arguments);

    private async Task<string> Do(object arguments)
    {
        await Run(arguments);
        return Assets.Done.Last();
    }
}
