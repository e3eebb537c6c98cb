using JobBroker.Bridge.Security;
using System;
using System.Linq;
using System.Threading.Tasks;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Scenes;

public sealed class SceneToolsTests : IDisposable
{
    private const string Menu = "Assets/Scenes/Menu.unity";
    private const string Sample = "Assets/Scenes/SampleScene.unity";

    private readonly SceneEditor editor = new();

    public void Dispose() => editor.Dispose();

    [Fact]
    public async Task A_scene_is_opened_alone_or_beside_the_others()
    {
        var opened = await editor.Call("open-scene", $$"""{"Path":"{{Menu}}","Mode":"Additive"}""");
        Assert.Equal([Sample, Menu], opened["scenes"]!.Select(one => (string)one["path"]!));
        opened = await editor.Call("open-scene", """{"Path":"Assets/Scenes/Menu"}""");
        Assert.Equal([Menu], opened["scenes"]!.Select(one => (string)one["path"]!));
        Assert.Null(opened["saved"]);
        Assert.Equal(["Menu Camera"], editor.Paths());
    }

    [Fact]
    public async Task Unsaved_changes_stay_unless_the_caller_says_otherwise()
    {
        await editor.Call("create-game-object", """{"Name":"New"}""");
        var error = await editor.Fails("open-scene", $$"""{"Path":"{{Menu}}"}""");
        Assert.Equal("unsaved_scenes", error.Type);
        Assert.StartsWith($"{Sample} has changes that are not saved. Say save or discard", error.Message);
        Assert.Contains("New", editor.Paths());

        var saved = await editor.Call("open-scene", $$"""{"Path":"{{Menu}}","UnsavedScenes":"save"}""");
        Assert.Equal([Sample], saved["saved"]!.Select(one => (string)one!));
        await editor.Call("open-scene", $$"""{"Path":"{{Sample}}"}""");
        Assert.Contains("New", editor.Paths());

        await editor.Call("delete-game-object", """{"Target":"New"}""");
        var discarded = await editor.Call("open-scene", $$"""{"Path":"{{Sample}}","UnsavedScenes":"discard"}""");
        Assert.Equal([Sample], discarded["discarded"]!.Select(one => (string)one!));
        Assert.Contains("New", editor.Paths());
    }

    [Fact]
    public async Task Who_denies_save_scene_denies_saving_by_open_scene_too()
    {
        await editor.Call("create-game-object", """{"Name":"New"}""");
        editor.Security.Current = editor.Security.Current with { Choices = ToolChoices.Of(["-save-scene"]) };
        var error = await editor.Fails("open-scene", $$"""{"Path":"{{Menu}}","UnsavedScenes":"save"}""");
        Assert.Equal("security_blocked", error.Type);
        Assert.StartsWith("open-scene with UnsavedScenes: save is blocked: it does what save-scene does", error.Message);
        Assert.Contains(editor.World.Open, scene => scene.IsDirty);
        await editor.Call("open-scene", $$"""{"Path":"{{Menu}}","UnsavedScenes":"discard"}""");
    }

    [Fact]
    public async Task A_changed_prefab_counts_as_unsaved_too()
    {
        editor.World.OpenPrefab("Assets/Prefabs/Enemy.prefab");
        await editor.Call("delete-game-object", """{"Target":"Gun"}""");
        var error = await editor.Fails("open-scene", $$"""{"Path":"{{Menu}}"}""");
        Assert.Contains("Assets/Prefabs/Enemy.prefab has changes", error.Message);
        await editor.Call("open-scene", $$"""{"Path":"{{Menu}}","UnsavedScenes":"discard"}""");
        Assert.Equal(["Menu Camera"], editor.Paths());
    }

    [Fact]
    public async Task A_scene_is_made_and_saved_but_never_over_another()
    {
        var made = await editor.Call("create-scene", """{"Path":"Assets/Scenes/Level"}""");
        Assert.Equal("Assets/Scenes/Level.unity", (string)made["path"]!);
        Assert.False((bool)made["scenes"]![0]!["isDirty"]!);
        Assert.Equal(["Main Camera", "Directional Light"], editor.Paths());
        Assert.Equal("scene_exists", (await editor.Fails("create-scene", """{"Path":"Assets/Scenes/Level.unity"}""")).Type);
        Assert.Equal("scene_not_saved", (await editor.Fails("create-scene", """{"Path":"Assets/Missing/Level.unity","Mode":"Additive"}""")).Type);
        Assert.Equal("scene_untitled", (await editor.Fails("create-scene", """{"Path":"Assets/Scenes/Other.unity","Mode":"Additive"}""")).Type);

        await editor.Call("create-game-object", "{}");
        Assert.Equal("unsaved_scenes", (await editor.Fails("create-scene", """{"Path":"Assets/Scenes/Third.unity"}""")).Type);
    }

    [Theory]
    [InlineData("Assets/scenes/menu.unity", "another spelling of a scene's path, where letter case does not count")]
    [InlineData("Assets/Scenes/Pulled.unity", "a file that Unity has not imported")]
    public async Task No_file_is_overwritten(string path, string why)
    {
        editor.Assets.IgnoresCase = true;
        editor.Assets.Add(Menu, "SceneAsset");
        editor.Assets.OnDisk.Add("Assets/Scenes/Pulled.unity");
        Assert.True("scene_exists" == (await editor.Fails("create-scene", $$"""{"Path":"{{path}}"}""")).Type, why);
        Assert.True("scene_exists" == (await editor.Fails("save-scene", $$"""{"SaveAs":"{{path}}"}""")).Type, why);
    }

    [Theory]
    [InlineData("Packages/com.studio.rocks/Level.unity")]
    [InlineData("Assets/.hidden/Level.unity")]
    [InlineData("Assets/Off~/Level.unity")]
    [InlineData("Assets/Rock.png:Level.unity")]
    [InlineData("Assets/.. /.. /Level.unity")]
    public async Task A_new_scene_lies_where_Unity_imports_it(string path)
    {
        Assert.Equal("invalid_arguments", (await editor.Fails("create-scene", $$"""{"Path":"{{path}}"}""")).Type);
        Assert.Equal("invalid_arguments", (await editor.Fails("save-scene", $$"""{"SaveAs":"{{path}}"}""")).Type);
    }

    [Fact]
    public async Task One_scene_or_all_with_changes_are_saved()
    {
        await editor.Call("open-scene", $$"""{"Path":"{{Menu}}","Mode":"Additive"}""");
        Assert.Empty((await editor.Call("save-scene", "{}"))["saved"]!);
        await editor.Call("modify-game-object", """{"Target":"Menu Camera","Active":false}""");
        await editor.Call("modify-game-object", """{"Target":"Root0","Active":false}""");
        Assert.Equal([Menu], (await editor.Call("save-scene", """{"Scene":"Menu"}"""))["saved"]!.Select(one => (string)one!));
        Assert.Equal([Sample], (await editor.Call("save-scene", "{}"))["saved"]!.Select(one => (string)one!));
        Assert.Equal("scene_exists", (await editor.Fails("save-scene", $$"""{"Scene":"Menu","SaveAs":"{{Sample}}"}""")).Type);
        var copied = await editor.Call("save-scene", """{"Scene":"Menu","SaveAs":"Assets/Scenes/Menu2"}""");
        Assert.Equal(["Assets/Scenes/Menu2.unity"], copied["saved"]!.Select(one => (string)one!));
        var error = await editor.Fails("save-scene", """{"Scene":"Nowhere"}""");
        Assert.Contains("Open are Assets/Scenes/SampleScene.unity, Assets/Scenes/Menu2.unity", error.Message);
    }

    [Theory]
    [InlineData("/etc/passwd")]
    [InlineData("Assets/../../Secret.unity")]
    [InlineData("Assets\\Scenes\\Menu.unity")]
    [InlineData("ProjectSettings/Main.unity")]
    [InlineData("Assets//Main.unity")]
    [InlineData("Assets")]
    public async Task Paths_lead_nowhere_else(string path)
    {
        var json = new Newtonsoft.Json.Linq.JObject { ["Path"] = path }.ToString();
        Assert.Equal("invalid_arguments", (await editor.Fails("open-scene", json)).Type);
        Assert.Equal("invalid_arguments", (await editor.Fails("create-scene", json)).Type);
        Assert.Equal("invalid_arguments", (await editor.Fails("save-scene", json.Replace("Path", "SaveAs"))).Type);
    }

    [Fact]
    public async Task A_scene_that_is_not_there_is_told_with_what_may_be_meant()
    {
        var error = await editor.Fails("open-scene", """{"Path":"Assets/Menu.unity"}""");
        Assert.Equal("scene_not_found", error.Type);
        Assert.Contains($"Did you mean {Menu}?", error.Message);
    }

    [Theory]
    [InlineData("open-scene")]
    [InlineData("create-scene")]
    [InlineData("save-scene")]
    public async Task Play_mode_refuses_them_all(string tool)
    {
        editor.IsPlaying = true;
        Assert.Equal("editor_is_playing", (await editor.Fails(tool, tool == "save-scene" ? "{}" : $$"""{"Path":"{{Menu}}"}""")).Type);
    }
}
