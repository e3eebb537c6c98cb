#nullable enable
using System.Linq;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEngine;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>Scenes, as the adapter opens and saves them: without asking a person.</summary>
public sealed class SceneFilesTests
{
    private const string Menu = "Assets/Menu.unity";

    private readonly UnitySceneFiles files = new();

    public SceneFilesTests()
    {
        _ = new StubbedEditor();
        StubEditor.ScenePaths.Add(Menu);
    }

    [Fact]
    public void Scenes_are_opened_made_and_saved()
    {
        Assert.Equal(["Assets/Main.unity", Menu], files.Known());
        files.Load(Menu, true);
        Assert.Equal([("Main", true), ("Menu", false)], files.Open().Select(one => (one.Name, one.IsActive)));
        files.Load(Menu, false);
        Assert.Equal([Menu], files.Open().Select(one => one.Path));
        var made = files.Make(true, true);
        Assert.Equal(("Untitled", ""), (made.Name, made.Path));
        StubEditor.DiskIsFull = true;
        Assert.False(files.Save(made, "Assets/New.unity"));
        StubEditor.DiskIsFull = false;
        Assert.True(files.Save(made, "Assets/New.unity"));
        Assert.Equal([Menu, "Assets/New.unity"], files.Open().Select(one => one.Path));
        files.Make(false, false);
        Assert.Equal("", Assert.Single(files.Open()).Path);
    }

    [Fact]
    public void The_open_prefab_is_listed_saved_and_left_without_a_dialog()
    {
        var root = new GameObject("Enemy");
        StubEditor.OpenPrefab("Assets/Enemy.prefab", root);
        StubEditor.PrefabStage.Stub.IsDirty = true;
        var prefab = files.Open().Single(one => one.IsPrefab);
        Assert.Equal(("Enemy", "Assets/Enemy.prefab", true), (prefab.Name, prefab.Path, prefab.IsDirty));
        Assert.True(files.Save(prefab, prefab.Path));
        Assert.Equal(["Prefab Enemy Assets/Enemy.prefab"], StubProject.Calls);
        Assert.False(files.Open().Single(one => one.IsPrefab).IsDirty);

        StubEditor.PrefabStage.Stub.IsDirty = true;
        files.Load(Menu, true);
        Assert.NotNull((object?)StubEditor.PrefabStage);
        files.Forget(prefab);
        files.Load(Menu, false);
        Assert.Null((object?)StubEditor.PrefabStage);
        Assert.Equal(0, StubEditor.Dialogs);
    }
}
