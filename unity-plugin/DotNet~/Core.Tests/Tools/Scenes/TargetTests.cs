using System;
using System.Linq;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Scenes;

public sealed class TargetTests : IDisposable
{
    private readonly SceneEditor editor = new();

    public void Dispose() => editor.Dispose();

    [Fact]
    public async Task Both_readers_tell_the_same_ids_and_each_id_is_one_object()
    {
        await editor.Call("create-game-object", """{"Name":"Object2","Parent":"Root0"}""");
        var found = (JArray)(await editor.Call("find-game-objects", """{"NamePattern":"Object2"}"""))["results"]!;
        Assert.Equal(["/Root0/Object2", "/Root0/Object2"], found.Select(one => (string)one["path"]!));
        Assert.NotEqual((string)found[0]["id"]!, (string)found[1]["id"]!);

        var nodes = (JArray)(await editor.Call("get-hierarchy", "{}"))["nodes"]!;
        var ids = nodes.Where(one => (string)one["name"]! == "Object2").Select(one => (string)one["id"]!);
        Assert.Equal(found.Select(one => (string)one["id"]!), ids);

        foreach (var one in found)
        {
            var read = await editor.Call("read-component", new JObject { ["Target"] = one["id"], ["Component"] = "Transform" }.ToString());
            Assert.Equal(one["id"], read["id"]);
        }
    }

    [Fact]
    public async Task A_name_that_several_have_is_refused_with_their_ids()
    {
        await editor.Call("create-game-object", """{"Name":"Object2"}""");
        var error = await editor.Fails("delete-game-object", """{"Target":"Object2"}""");
        Assert.Equal("game_object_ambiguous", error.Type);
        Assert.Matches(@"^2 objects are called Object2: \d+@[0-9a-f]{8} \(/Root0/Object2\), \d+@[0-9a-f]{8} \(/Object2\)\. Name one by its id\.$", error.Message);
        Assert.Equal(5, editor.Paths().Length);

        var byPath = await editor.Call("delete-game-object", """{"Target":"/Object2"}""");
        Assert.Equal(1, (int)byPath["count"]!);
    }

    [Fact]
    public async Task What_is_not_there_is_told_with_what_may_be_meant()
    {
        var name = await editor.Fails("delete-game-object", """{"Target":"/Root0/objct1"}""");
        Assert.Equal("game_object_not_found", name.Type);
        Assert.Contains("Did you mean /Root0/Object", name.Message);
        var other = await editor.Fails("delete-game-object", """{"Target":"Zeppelin"}""");
        Assert.Contains("find-game-objects lists", other.Message);
        var empty = await editor.Fails("delete-game-object", """{"Target":" "}""");
        Assert.Equal("invalid_arguments", empty.Type);

        var id = await editor.IdOf("Object2");
        await editor.Call("delete-game-object", $$"""{"Target":"{{id}}"}""");
        var gone = await editor.Fails("delete-game-object", $$"""{"Target":"{{id}}"}""");
        Assert.Contains($"of the id {id}", gone.Message);
    }

    /// <summary>As Unity writes its instance ids, its EntityId, and that from 6000.6 on.</summary>
    [Theory]
    [InlineData("#-12345")]
    [InlineData("#12345")]
    [InlineData("#12345:7")]
    [InlineData("12345@0123abcd")]
    [InlineData("12345.678@0123abcd")]
    public async Task The_id_of_an_object_that_is_gone_is_no_name(string id)
    {
        var gone = await editor.Fails("delete-game-object", new JObject { ["Target"] = id }.ToString());
        Assert.Contains($"No open scene has an object of the id {id}: it was deleted", gone.Message);
    }

    [Fact]
    public async Task Objects_of_the_open_prefab_count()
    {
        editor.World.OpenPrefab("Assets/Prefabs/Enemy.prefab");
        var id = await editor.IdOf("Gun");
        Assert.StartsWith("#", id);
        var made = await editor.Call("create-game-object", """{"Name":"Hat"}""");
        Assert.Equal("/Enemy/Hat", (string)made["path"]!);
        Assert.Equal("prefab_root", (await editor.Fails("delete-game-object", """{"Target":"Enemy"}""")).Type);
        Assert.Equal("parent_refused", (await editor.Fails("modify-game-object", """{"Target":"Gun","Parent":"Root0"}""")).Type);
        Assert.Equal("prefab_root", (await editor.Fails("modify-game-object", """{"Target":"Enemy","Parent":"/"}""")).Type);
        Assert.Equal("/Enemy/Hat", (string)(await editor.Call("modify-game-object", """{"Target":"Hat","Parent":"/"}"""))["path"]!);

        var saved = await editor.Call("save-scene", "{}");
        Assert.Equal(["Assets/Prefabs/Enemy.prefab"], saved["saved"]!.Select(one => (string)one!));
    }

    [Fact]
    public async Task A_hierarchy_begins_at_an_id()
    {
        var nodes = (await editor.Call("get-hierarchy", $$"""{"RootPath":"{{await editor.IdOf("Object2")}}"}"""))["nodes"]!;
        Assert.Equal(["Object2"], nodes.Select(one => (string)one["name"]!));
        Assert.Equal("game_object_not_found", (await editor.Fails("get-hierarchy", """{"RootPath":"/Nowhere"}""")).Type);
    }
}
