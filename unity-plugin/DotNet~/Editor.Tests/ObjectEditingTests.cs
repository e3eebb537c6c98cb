#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEngine;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>Objects and their ids, as the adapter reads and changes them.</summary>
public sealed class ObjectEditingTests
{
    private const string Enemy = "Assets/Enemy.prefab";

    private readonly UnityScenes scenes = new();
    private readonly UnityObjects objects = new();

    public ObjectEditingTests()
    {
        _ = new StubbedEditor();
        StubEditor.Types.AddRange([typeof(Mover), typeof(Thing)]);
    }

    [Fact]
    public void Objects_of_saved_scenes_have_global_ids_and_all_others_their_number()
    {
        var saved = new GameObject("Same");
        var twin = new GameObject("Same");
        var outliving = new GameObject("Same");
        StubEditor.KeepAlive(outliving);
        var root = new GameObject("Enemy");
        StubEditor.OpenPrefab(Enemy, root);

        Assert.Equal([saved, twin, root], scenes.Roots().Select(one => one.Handle));
        Assert.Matches(@"^\d+@[0-9a-f]{8}$", IdOf(saved));
        Assert.Matches(@"^#-?\d+$", IdOf(root));
        foreach (var one in new[] { saved, twin, root }) Assert.Same(one, scenes.Find(IdOf(one))!.Handle);
        Assert.Equal("Enemy", scenes.Find(IdOf(root))!.Scene);

        StubEditor.IsPlaying = true;
        Assert.Equal([saved, twin, outliving, root], scenes.Roots().Select(one => one.Handle));
        var ids = new[] { saved, twin, outliving, root }.Select(IdOf).ToList();
        Assert.Equal(4, ids.Distinct().Count());
        Assert.All(ids, id => Assert.StartsWith("#", id));
        Assert.Same(outliving, scenes.Find(ids[2])!.Handle);
        Assert.Null(scenes.Find("#123456"));
        Assert.Null(scenes.Find("123456@00000000"));

        StubEditor.IsPlaying = false;
        StubEditor.Scenes[0].Path = "";
        Assert.StartsWith("#", IdOf(saved));
    }

    [Fact]
    public void A_step_is_one_group_of_Undo_and_what_fails_takes_itself_back()
    {
        using (var outer = objects.BeginUndo("run-batch"))
        {
            using (var inner = objects.BeginUndo("create-game-object"))
            {
                var parent = objects.Create(new NewObject("Parent", null, null, null));
                var child = objects.Create(new NewObject("Child", parent, "Cube", null));
                objects.Change(child, new ObjectChange { Position = [1, 2, 3], Tag = "Player", Active = false });
                inner.Complete();
            }
            using (objects.BeginUndo("fails")) objects.Create(new NewObject("Never", null, null, null));
            outer.Complete();
        }
        Assert.Equal(["run-batch"], StubEditor.UndoGroups);
        var read = Assert.Single(scenes.Roots());
        var below = Assert.Single(read.Children);
        Assert.Equal(("Parent/Child", false, "Player"), (below.Path, below.Active, below.Tag));
        Assert.Equal(["Transform", "BoxCollider"], below.Components);
        Assert.True(StubEditor.Scenes[0].IsDirty);
        StubEditor.PerformUndo();
        Assert.Empty(scenes.Roots());
    }

    [Fact]
    public void A_new_parent_keeps_the_place_in_the_world_or_that_below_the_parent()
    {
        var parent = objects.Create(new NewObject("Parent", null, null, null));
        objects.Change(parent, new ObjectChange { Position = [10, 0, 0], Rotation = [0, 90, 0], Scale = [2, 2, 2] });
        var child = objects.Create(new NewObject("Child", null, null, null));
        objects.Change(child, new ObjectChange { Position = [1, 0, 0] });
        var transform = ((GameObject)child.Handle!).transform;

        Assert.Equal("Parent/Child", objects.Move(child, parent, true).Path);
        Assert.Equal(-9, transform.localPosition.x);
        objects.Move(child, null, true);
        Assert.Equal(1, transform.localPosition.x);
        objects.Move(child, parent, false);
        Assert.Equal(1, transform.localPosition.x);
        objects.Change(child, new ObjectChange { Position = [0, 0, 0], IsWorld = true });
        Assert.Equal(-10, transform.localPosition.x);
    }

    [Fact]
    public void What_Unity_refuses_is_told()
    {
        var prefab = new GameObject("Enemy");
        new GameObject("Gun").transform.SetParent(prefab.transform, false);
        StubEditor.Scenes[0].Roots.Clear();
        StubEditor.AssetObjects[Enemy] = [prefab];
        Assert.True(objects.IsPrefab(Enemy));
        Assert.False(objects.IsPrefab("Assets/None.prefab"));
        var made = objects.Create(new NewObject("Boss", null, null, Enemy));
        Assert.Equal("Boss", made.Name);
        var gun = Assert.Single(made.Children);
        Assert.Equal("parent_refused", Refused(() => objects.Move(gun, null, true)));
        Assert.Equal("delete_refused", Refused(() => objects.Delete(gun)));
        var before = StubEditor.RecordedOverrides;
        objects.Change(gun, new ObjectChange { Active = false, Scale = [2, 2, 2] });
        Assert.Equal(before + 2, StubEditor.RecordedOverrides);

        var box = objects.Add(made, typeof(BoxCollider).FullName!);
        StubEditor.NeededComponents.Add((Component)box.Handle!);
        Assert.Equal("component_refused", Refused(() => objects.Remove(box)));
        StubEditor.NeededComponents.Clear();
        objects.Remove(box);
        Assert.Equal(["Transform"], objects.ComponentsOf(made).Select(one => one.Type));
        objects.Delete(made);
        Assert.Equal("game_object_not_found", Refused(() => objects.Change(made, new ObjectChange())));
    }

    [Fact]
    public void New_objects_of_Prefab_Mode_come_below_its_root()
    {
        var root = new GameObject("Enemy");
        StubEditor.OpenPrefab(Enemy, root);
        var made = objects.Create(new NewObject("Hat", null, null, null));
        Assert.Equal(("Enemy/Hat", "Enemy"), (made.Path, made.Scene));
        Assert.True(objects.IsInPrefabMode(made));
        Assert.True(objects.IsPrefabRoot(scenes.Roots()[0]));
        Assert.True(StubEditor.PrefabStage.scene.isDirty);
        Assert.False(StubEditor.Scenes[0].IsDirty);
        Assert.Equal("Enemy/Hat", objects.Move(made, null, true).Path);
    }

    [Fact]
    public void Component_types_are_found_by_short_and_full_name()
    {
        Assert.Equal([typeof(Mover).FullName!], objects.ComponentTypes("mover"));
        Assert.Equal(["UnityEngine.BoxCollider"], objects.ComponentTypes("UnityEngine.BoxCollider"));
        Assert.Empty(objects.ComponentTypes("Nothing"));
        var one = objects.Create(new NewObject("", null, null, null));
        ((GameObject)one.Handle!).AddMissing();
        Assert.Equal(["Transform", "Missing script"], objects.ComponentsOf(one).Select(component => component.Type));
        Assert.Equal("missing_script", Refused(() => objects.Remove(objects.ComponentsOf(one)[1])));
        Assert.Equal("Water", objects.Layers[4]);
        Assert.Contains("Player", objects.Tags);
    }

    private static string Refused(Action act) => Assert.Throws<ToolException>(act).Type;

    private static string IdOf(GameObject one) => UnityScenes.Read(one).Id;
}
