#nullable enable
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEngine;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>Serialized properties, as the adapter reads and writes them.</summary>
public sealed class PropertyEditingTests
{
    private readonly UnityObjects objects = new();
    private readonly GameObject target;
    private readonly Everything script;

    public PropertyEditingTests()
    {
        _ = new StubbedEditor();
        target = new GameObject("Target");
        script = target.AddComponent<Everything>();
    }

    [Fact]
    public void Every_kind_is_written_and_read_back()
    {
        using var properties = Edit();
        Assert.Equal(
            ["m_Enabled", "Two", "Three", "Four", "Turn", "Tint", "Area", "Box", "Pair", "Cell", "Stats", "Points", "Other", "Asset"],
            properties.Names(""));
        Assert.Equal(["Health", "Label"], properties.Names("Stats"));
        var sizes = new[] { "Two", "Three", "Four", "Turn", "Area", "Box", "Pair", "Cell" }.Select(name => properties.Find(name)!);
        Assert.Equal([2, 3, 4, 4, 4, 6, 2, 3], sizes.Select(one => one.Size));
        foreach (var one in sizes.ToList())
        {
            Assert.Equal(PropertyKind.Vector, one.Kind);
            properties.Set(one.Path, Enumerable.Range(1, one.Size).Select(number => (double)number).ToArray());
        }
        properties.Set("Tint", new[] { 1.0, 0.5, 0, 1 });
        properties.Set("Stats.Health", 5L);
        properties.Set("Stats.Label", "Boss");
        properties.Set("m_Enabled", false);
        properties.Resize("Points", 2);
        properties.Set("Points.Array.data[1]", new[] { 7.0, 8, 9 });
        Assert.Equal(10, script.Stats.Health);
        properties.Apply();

        Assert.Equal((2, 6, 4, 3), ((int)script.Two.y, (int)script.Box.size.z, (int)script.Area.height, script.Cell.z));
        Assert.Equal((5, "Boss", 9, 0.5f), (script.Stats.Health, script.Stats.Label, (int)script.Points[1].z, script.Tint.g));
        Assert.Equal(PropertyKind.List, properties.Find("Points")!.Kind);
        Assert.Equal(new[] { 7.0, 8, 9 }, properties.Find("Points.Array.data[1]")!.Value);
        Assert.Equal(false, properties.Find("m_Enabled")!.Value);
        Assert.Null(properties.Find("Points.Array.data[2]"));
        Assert.Null(properties.Find("Nothing"));

        StubEditor.PerformUndo();
        Assert.Equal(10, script.Stats.Health);
    }

    [Fact]
    public void Words_of_choices_and_the_numbers_that_have_none()
    {
        var mover = target.AddComponent<Mover>();
        using var properties = objects.Edit(objects.ComponentsOf(UnityScenes.Read(target))[2]);
        var kind = properties.Find("Kind")!;
        Assert.Equal(PropertyKind.Choice, kind.Kind);
        Assert.Equal("Fast", kind.Value);
        Assert.Equal(["Slow", "Fast"], kind.Words);
        properties.Set("Kind", "Slow");
        properties.Set("Speed", 2.5);
        properties.Set("Base", 4L);
        properties.Apply();
        Assert.Equal((ScriptSpeed.Slow, 2.5f, 4), (mover.Kind, mover.Speed, mover.Base));
        properties.Set("Kind", 7L);
        Assert.Equal(7L, properties.Find("Kind")!.Value);
    }

    [Fact]
    public void References_are_components_objects_and_assets_of_the_wanted_type()
    {
        var other = new GameObject("Other");
        var mover = other.AddComponent<Mover>();
        var asset = ScriptableObject.CreateInstance<ScriptableObject>();
        StubEditor.AssetObjects["Assets/Data.asset"] = [asset];
        var prefab = new GameObject("Prefab");
        StubEditor.AssetObjects["Assets/Prefab.prefab"] = [prefab];
        using var properties = Edit();
        Assert.Null(properties.Find("Other")!.Value);

        properties.Set("Other", new ObjectReference(UnityScenes.Read(other), null));
        properties.Set("Asset", new ObjectReference(null, "Assets/Data.asset"));
        properties.Apply();
        Assert.Same(mover, script.Other);
        Assert.Same(asset, script.Asset);
        var read = (ObjectReference)properties.Find("Other")!.Value!;
        Assert.Equal(("Mover", "Other", null), (read.Type, read.InScene!.Path, read.Asset));
        Assert.Equal("Assets/Data.asset", ((ObjectReference)properties.Find("Asset")!.Value!).Asset);

        foreach (var wrong in new[]
        {
            new ObjectReference(UnityScenes.Read(target), null), new ObjectReference(null, "Assets/Prefab.prefab"),
            new ObjectReference(null, "Assets/Data.asset"),
        })
        {
            Assert.Equal("reference_refused", Assert.Throws<ToolException>(() => properties.Set("Other", wrong)).Type);
        }
        var none = Assert.Throws<ToolException>(() => properties.Set("Asset", new ObjectReference(null, "Assets/None.asset")));
        Assert.Equal("asset_not_found", none.Type);
        properties.Set("Other", null);
        properties.Apply();
        Assert.True(script.Other == null);
    }

    private IPropertyEditing Edit() => objects.Edit(objects.ComponentsOf(UnityScenes.Read(target))[1]);
}
