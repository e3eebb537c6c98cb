using System;
using System.Linq;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Scenes;

public sealed class ObjectToolsTests : IDisposable
{
    private static readonly string[] AtFirst = ["Root0", "Root0/Object1", "Root0/Object2", "Root0/Object3"];

    private readonly SceneEditor editor = new();

    public void Dispose() => editor.Dispose();

    [Fact]
    public async Task An_object_is_made_placed_and_equipped_in_one_step_of_Undo()
    {
        var made = await editor.Call(
            "create-game-object",
            """{"Name":"Ball","Parent":"Root0","Primitive":"Sphere","Position":[1,2,3],"Scale":[2,2,2],"Components":["Rigidbody","Mover"]}""");
        Assert.Equal("/Root0/Ball", (string)made["path"]!);
        Assert.Equal("SampleScene", (string)made["scene"]!);
        Assert.Null(made["warning"]);
        var node = editor.Node("Root0/Ball");
        Assert.Equal(["Transform", "MeshFilter", "MeshRenderer", "BoxCollider", "Rigidbody", "Mover"], node.Components.Select(one => one.Type));
        Assert.Equal([1, 2, 3], node.Local("m_LocalPosition"));
        Assert.Equal(["create-game-object"], editor.World.UndoSteps);

        editor.World.Undo();
        Assert.Equal(AtFirst, editor.Paths());
    }

    [Fact]
    public async Task An_instance_of_a_prefab_keeps_what_is_below()
    {
        await editor.Call("create-game-object", """{"Prefab":"Assets/Prefabs/Enemy.prefab"}""");
        await editor.Call("create-game-object", """{"Prefab":"Assets/Prefabs/Enemy.prefab","Name":"Boss"}""");
        Assert.Equal(["Enemy", "Enemy/Gun", "Boss", "Boss/Gun"], editor.Paths().Except(AtFirst));
        Assert.Equal(editor.Paths().Length, editor.World.Open.SelectMany(scene => scene.Roots).SelectMany(root => root.All).Select(one => one.Number).Distinct().Count());
    }

    [Theory]
    [InlineData("""{"Primitive":"Cube","Prefab":"Assets/Prefabs/Enemy.prefab"}""", "invalid_arguments", "not both")]
    [InlineData("""{"Prefab":"Assets/Enemy.prefab"}""", "prefab_not_found", "Assets/Enemy.prefab")]
    [InlineData("""{"Name":"A/B"}""", "invalid_arguments", "use Parent")]
    [InlineData("""{"Position":[1,2,1e39]}""", "invalid_arguments", "Position must have 3 numbers that fit")]
    [InlineData("""{"Position":[1,2]}""", "invalid_arguments", "Position must have 3 numbers")]
    [InlineData("""{"Components":["Rigidbody","Nonsense"]}""", "component_type_not_found", "Nonsense")]
    [InlineData("""{"Components":["Marker"]}""", "component_type_ambiguous", "Game.Marker, Tools.Marker")]
    [InlineData("""{"Components":["Rigidbody","Rigidbody"]}""", "component_refused", "Rigidbody")]
    [InlineData("""{"Parent":"Nobody"}""", "game_object_not_found", "Nobody")]
    public async Task What_cannot_be_made_leaves_nothing_behind(string arguments, string type, string says)
    {
        var error = await editor.Fails("create-game-object", arguments);
        Assert.Equal(type, error.Type);
        Assert.Contains(says, error.Message);
        Assert.Equal(AtFirst, editor.Paths());
        Assert.Empty(editor.World.UndoSteps);
    }

    [Fact]
    public async Task All_of_an_object_is_changed_at_once()
    {
        var changed = await editor.Call(
            "modify-game-object",
            """{"Target":"Object1","Name":"Hero","Parent":"Object2","Position":[0,1,0],"Rotation":[0,90,0],"Active":false,"Tag":"Player","Layer":"UI"}""");
        Assert.Equal("/Root0/Object2/Hero", (string)changed["path"]!);
        var node = editor.Node("Root0/Object2/Hero");
        Assert.Equal((false, "Player", 5), (node.IsActive, node.Tag, node.Layer));
        Assert.Equal([0, 0.70710677, 0, 0.70710677], node.Local("m_LocalRotation").Select(one => Math.Round(one, 8)));
        Assert.Equal(["modify-game-object"], editor.World.UndoSteps);
        editor.World.Undo();
        Assert.Equal(AtFirst, editor.Paths());

        await editor.Call("modify-game-object", """{"Target":"Object1","Layer":"7","Parent":"/"}""");
        Assert.Equal(7, editor.Node("Object1").Layer);
    }

    [Fact]
    public async Task A_new_parent_leaves_the_place_in_the_world_or_that_below_the_parent()
    {
        await editor.Call("modify-game-object", """{"Target":"Object2","Position":[10,0,0]}""");
        await editor.Call("modify-game-object", """{"Target":"Object1","Position":[1,0,0]}""");
        await editor.Call("modify-game-object", """{"Target":"Object1","Parent":"Object2","Space":"World"}""");
        Assert.Equal([-9, 0, 0], editor.Node("Root0/Object2/Object1").Local("m_LocalPosition"));
        await editor.Call("modify-game-object", """{"Target":"Object1","Parent":"Root0"}""");
        Assert.Equal([-9, 0, 0], editor.Node("Root0/Object1").Local("m_LocalPosition"));
        await editor.Call("modify-game-object", """{"Target":"Object1","Parent":"Object2","Position":[3,0,0],"Space":"World"}""");
        Assert.Equal([-7, 0, 0], editor.Node("Root0/Object2/Object1").Local("m_LocalPosition"));
    }

    [Theory]
    [InlineData("""{"Tag":"Plyer"}""", "tag_not_found", "There are Untagged, Respawn, MainCamera, Player.")]
    [InlineData("""{"Layer":"Sky"}""", "layer_not_found", "Default (0), TransparentFX (1), Ignore Raycast (2), Water (4), UI (5)")]
    [InlineData("""{"Layer":"32"}""", "layer_not_found", "There is no layer 32")]
    [InlineData("""{"Name":""}""", "invalid_arguments", "Name must not be empty")]
    [InlineData("""{"Scale":[1]}""", "invalid_arguments", "Scale must have 3 numbers")]
    [InlineData("""{"Parent":"Object1"}""", "parent_is_below", "cannot become its parent")]
    [InlineData("""{"Parent":"Root0"}""", "parent_is_below", "cannot become its parent")]
    public async Task What_does_not_fit_changes_nothing(string arguments, string type, string says)
    {
        var given = JObject.Parse(arguments);
        given["Target"] = "Root0";
        given["Active"] = false;
        var error = await editor.Fails("modify-game-object", given.ToString());
        Assert.Equal(type, error.Type);
        Assert.Contains(says, error.Message);
        Assert.True(editor.Node("Root0").IsActive);
        Assert.Empty(editor.World.UndoSteps);
    }

    [Fact]
    public async Task What_is_deleted_is_told_and_comes_back_with_Undo()
    {
        var deleted = await editor.Call("delete-game-object", """{"Target":"Root0"}""");
        Assert.Equal(("/Root0", 4), ((string)deleted["path"]!, (int)deleted["count"]!));
        Assert.Empty(editor.Paths());
        editor.World.Undo();
        Assert.Equal(AtFirst, editor.Paths());
    }

    [Fact]
    public async Task In_play_mode_the_answer_warns_but_not_of_a_prefab()
    {
        editor.IsPlaying = true;
        Assert.Contains("lost when play mode ends", (string)(await editor.Call("create-game-object", "{}"))["warning"]!);
        editor.World.OpenPrefab("Assets/Prefabs/Enemy.prefab");
        Assert.Null((await editor.Call("modify-game-object", """{"Target":"Gun","Active":false}"""))["warning"]);
    }
}
