using System;
using System.Linq;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Scenes;

public sealed class ComponentToolsTests : IDisposable
{
    private readonly SceneEditor editor = new();

    public void Dispose() => editor.Dispose();

    [Fact]
    public async Task What_was_written_is_read_in_the_same_form()
    {
        var values = new JObject
        {
            ["speed"] = 2.5,
            ["kind"] = "Fast",
            ["stats"] = new JObject { ["health"] = 5, ["label"] = "Boss" },
            ["points"] = new JArray { new JArray(1, 2, 3), new JArray(4, 5, 6) },
            ["target"] = "Object2",
        };
        var changed = await editor.Call("add-component", new JObject
        {
            ["Target"] = "Object1", ["Component"] = "Mover", ["Properties"] = values,
        }.ToString());
        Assert.Equal("Mover", (string)changed["component"]!);
        var id = await editor.IdOf("Object2");
        var expected = (JObject)values.DeepClone();
        expected["target"] = new JObject { ["type"] = "Transform", ["id"] = id, ["path"] = "/Root0/Object2" };
        Assert.True(JToken.DeepEquals(expected, changed["properties"]), changed["properties"]!.ToString());

        var read = (JObject)(await editor.Call("read-component", """{"Target":"Object1","Component":"Mover"}"""))["components"]!["Mover"]!;
        foreach (var value in expected) Assert.True(JToken.DeepEquals(value.Value, read[value.Key]), value.Key);
        Assert.Equal("AnimationCurve", (string)read["curve"]!);

        var back = await editor.Call("modify-component", new JObject
        {
            ["Target"] = "Object1", ["Component"] = "Mover", ["Properties"] = expected,
        }.ToString());
        Assert.True(JToken.DeepEquals(expected, back["properties"]));

        editor.World.Undo();
        editor.World.Undo();
        Assert.DoesNotContain(editor.Node("Root0/Object1").Components, one => one.Type == "Mover");
    }

    [Theory]
    [InlineData("points.Array.size", "2000000")]
    [InlineData("points.Array.size", "-1")]
    [InlineData("speed", "1e39")]
    [InlineData("points", "[[1,2,1e39]]")]
    public async Task A_number_that_Unity_cannot_hold_is_refused(string path, string value)
    {
        var call = new JObject
        {
            ["Target"] = "Object1", ["Component"] = "Mover", ["Properties"] = new JObject { [path] = JToken.Parse(value) },
        };
        Assert.Equal("invalid_arguments", (await editor.Fails("add-component", call.ToString())).Type);
        Assert.DoesNotContain(editor.Node("Root0/Object1").Components, one => one.Type == "Mover");
    }

    [Fact]
    public async Task A_list_gets_another_length()
    {
        await editor.Call("add-component", """{"Target":"Object1","Component":"Mover","Properties":{"points":[[1,1,1]]}}""");
        var changed = await editor.Call("modify-component", """{"Target":"Object1","Component":"Mover","Properties":{"points.Array.size":3}}""");
        Assert.Equal(3, (int)changed["properties"]!["points.Array.size"]!);
    }

    [Fact]
    public async Task Properties_are_found_without_their_prefix_and_elements_by_number()
    {
        await editor.Call("add-component", """{"Target":"Object1","Component":"BoxCollider","Properties":{"isTrigger":true,"Size":{"x":2,"y":3,"z":4}}}""");
        var box = (await editor.Call("read-component", """{"Target":"Object1","Component":"boxcollider"}"""))["components"]!["BoxCollider"]!;
        Assert.True((bool)box["m_IsTrigger"]!);
        Assert.Equal([2, 3, 4], box["m_Size"]!.Select(one => (double)one!));

        await editor.Call("add-component", """{"Target":"Object1","Component":"Mover","Properties":{"points":[[1,1,1],[2,2,2]],"stats.health":3}}""");
        var changed = await editor.Call("modify-component", """{"Target":"Object1","Component":"Mover","Properties":{"points[1]":[9,9,9]}}""");
        Assert.Equal("""{"points.Array.data[1]":[9,9,9]}""", changed["properties"]!.ToString(Newtonsoft.Json.Formatting.None));
        var short1 = await editor.Call("read-component", """{"Target":"Object1","Component":"Mover","Property":"points","MaxResults":1}""");
        Assert.Equal("""{"points":{"size":2,"first":[[1,1,1]]}}""", short1["components"]!["Mover"]!.ToString(Newtonsoft.Json.Formatting.None));
    }

    [Fact]
    public async Task Colors_come_as_numbers_or_as_in_the_web()
    {
        await editor.Call("add-component", """{"Target":"Object1","Component":"Light","Properties":{"color":"#FF8000"}}""");
        var read = await editor.Call("read-component", """{"Target":"Object1","Component":"Light","Property":"m_Color"}""");
        Assert.Equal([1, 128 / 255.0, 0, 1], read["components"]!["Light"]!["m_Color"]!.Select(one => (double)one!), (left, right) => Math.Abs(left - right) < 1e-6);
        var changed = await editor.Call("modify-component", """{"Target":"Object1","Component":"Light","Properties":{"m_Color":{"r":0,"g":1,"b":0},"m_Type":"point"}}""");
        Assert.Equal("""{"m_Color":[0,1,0,1],"m_Type":"Point"}""", changed["properties"]!.ToString(Newtonsoft.Json.Formatting.None));
    }

    [Theory]
    [InlineData("Mover", """{"sped":1}""", "property_not_found", "Mover has no property sped. Did you mean speed? There are m_Enabled, speed")]
    [InlineData("Mover", """{"stats.helth":1}""", "property_not_found", "Mover.stats has no property helth. Did you mean health?")]
    [InlineData("Mover", """{"stats":{"armor":1}}""", "property_not_found", "has no property armor")]
    [InlineData("Mover", """{"points[4]":[1,1,1]}""", "property_not_found", "Mover.points has 0 elements")]
    [InlineData("Mover", """{"speed":"fast"}""", "invalid_arguments", "speed (float) must be a number, not \"fast\"")]
    [InlineData("Mover", """{"kind":"Medium"}""", "invalid_arguments", "kind must be one of Slow, Fast, not Medium")]
    [InlineData("Mover", """{"points":[[1,1]]}""", "invalid_arguments", "must be 3 numbers")]
    [InlineData("Mover", """{"points":{"x":1}}""", "invalid_arguments", "must be an array")]
    [InlineData("Mover", """{"target":5}""", "invalid_arguments", "an object's id or path")]
    [InlineData("Mover", """{"target":"Nobody"}""", "game_object_not_found", "Nobody")]
    [InlineData("Mover", """{"stats.health":1.5}""", "invalid_arguments", "must be an integer")]
    [InlineData("Mover", """{"stats.health":99999999999999999999}""", "invalid_arguments", "64 bits")]
    [InlineData("Mover", """{"curve":1}""", "property_not_writable", "AnimationCurve")]
    [InlineData("MeshFilter", """{"m_Mesh":"Object2"}""", "reference_refused", "Object2 has none")]
    [InlineData("Light", """{"color":"red"}""", "invalid_arguments", "a color, as")]
    [InlineData("MeshRenderer[1]", """{"m_Enabled":false}""", "component_not_found", "It has Transform, MeshRenderer, Mover, MeshFilter, Light. To add one, use add-component.")]
    public async Task What_does_not_fit_sets_none_of_them(string component, string properties, string type, string says)
    {
        await editor.Call("add-component", """{"Target":"Object1","Component":"Mover"}""");
        await editor.Call("add-component", """{"Target":"Object1","Component":"MeshFilter"}""");
        await editor.Call("add-component", """{"Target":"Object1","Component":"Light"}""");
        var given = new JObject { ["m_Enabled"] = false };
        if (component == "MeshFilter") given.RemoveAll();
        given.Merge(JObject.Parse(properties));
        var error = await editor.Fails("modify-component", new JObject
        {
            ["Target"] = "Object1", ["Component"] = component, ["Properties"] = given,
        }.ToString());
        Assert.Equal(type, error.Type);
        Assert.Contains(says, error.Message);
        var read = await editor.Call("read-component", """{"Target":"Object1"}""");
        Assert.All(read["components"]!.SelectMany(one => one).Where(one => one["m_Enabled"] != null), one => Assert.True((bool)one["m_Enabled"]!));
        Assert.Equal(3, editor.World.UndoSteps.Count());
    }

    [Fact]
    public async Task One_of_two_components_is_removed_and_the_transform_never()
    {
        await editor.Call("add-component", """{"Target":"Object1","Component":"BoxCollider"}""");
        var second = await editor.Call("add-component", """{"Target":"Object1","Component":"BoxCollider","Properties":{"m_IsTrigger":true}}""");
        Assert.Equal("BoxCollider[1]", (string)second["component"]!);
        await editor.Call("remove-component", """{"Target":"Object1","Component":"BoxCollider"}""");
        var left = await editor.Call("read-component", """{"Target":"Object1","Component":"BoxCollider"}""");
        Assert.True((bool)left["components"]!["BoxCollider"]!["m_IsTrigger"]!);
        editor.World.Undo();
        Assert.Equal(2, editor.Node("Root0/Object1").Components.Count(one => one.Type == "BoxCollider"));

        Assert.Equal("component_required", (await editor.Fails("remove-component", """{"Target":"Object1","Component":"Transform"}""")).Type);
        Assert.Equal("invalid_arguments", (await editor.Fails("modify-component", """{"Target":"Object1","Component":"Transform","Properties":{}}""")).Type);
        Assert.Equal("invalid_arguments", (await editor.Fails("read-component", """{"Target":"Object1","Property":"x"}""")).Type);
    }
}
