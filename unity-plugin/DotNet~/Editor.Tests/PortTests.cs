#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.Bridge.Window;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEditor.Search;
using UnityEngine;
using UnityEngine.SceneManagement;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>The adapter's smaller ports, each against the stubs' Editor.</summary>
public sealed class PortTests
{
    private readonly StubbedEditor editor = new();

    [Fact]
    public void Another_thread_wakes_the_Editor()
    {
        var main = new UnityMainThread(new UnityLog());
        Assert.True(main.IsCurrent);
        var before = StubEditor.Ticks;
        var isCurrentThere = true;
        // A thread of its own: a pool's may be the very one that waits here.
        var other = new Thread(() =>
        {
            isCurrentThere = main.IsCurrent;
            main.Wake();
        });
        other.Start();
        other.Join();
        Assert.False(isCurrentThere);
        Assert.Equal(before + 1, StubEditor.Ticks);
        Assert.Empty(StubEditor.Console);
    }

    [Fact]
    public void The_session_store_tells_empty_from_nothing()
    {
        var store = new UnitySessionStore();
        Assert.Null(store.Get("key"));
        store.Set("key", "");
        Assert.Equal("", store.Get("key"));
        store.Set("key", "=text");
        Assert.Equal("=text", store.Get("key"));
        store.Set("key", null);
        Assert.Null(store.Get("key"));
        Assert.Empty(StubEditor.Session);
    }

    [Fact]
    public async Task The_console_is_heard_on_every_thread_and_emptied()
    {
        var lines = new List<ConsoleLine>();
        var console = new UnityConsole(editor.Clock, new UnityLog());
        console.LineWritten += lines.Add;
        await Task.Run(() => StubEditor.Write("oh", "at A", LogType.Exception));
        StubEditor.Write("hm", "", LogType.Warning);
        StubEditor.Write("so", "", LogType.Log);
        Assert.Equal([ConsoleLineType.Error, ConsoleLineType.Warning, ConsoleLineType.Log], lines.Select(line => line.Type));
        Assert.Equal(("oh", "at A", editor.Clock.NowMs), (lines[0].Message, lines[0].StackTrace, lines[0].AtMs));

        Assert.Equal(3, console.Clear());
        Assert.Empty(StubEditor.ConsoleEntries);

        console.Dispose();
        StubEditor.Write("late", "", LogType.Log);
        Assert.Equal(3, lines.Count);
    }

    [Fact]
    public void Menu_items_of_scripts_are_listed_run_and_their_exceptions_thrown_on()
    {
        StubEditor.Methods.AddRange(typeof(Items).GetMethods(BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.DeclaredOnly));
        var menu = new UnityMenu();
        Items.Ran.Clear();

        var bake = menu.List().Single(item => item.Path == "Tools/Bake" && !item.IsValidation);
        Assert.EndsWith("Items.Bake", bake.Method);
        Assert.Equal("Editor.Tests", bake.Assembly);
        Assert.Equal(50, bake.Priority);
        Assert.Contains(menu.List(), item => item.Path == "Tools/Off" && item.IsValidation);

        Assert.True(menu.Execute("Tools/Bake"));
        Assert.True(menu.Execute("Tools/With Command"));
        Assert.Equal(["bake", "command"], Items.Ran);
        var error = Assert.Throws<FormatException>(() => menu.Execute("Tools/Throws"));
        Assert.Equal("bad", error.Message);
        Assert.False(menu.Execute("Tools/Off"));
        Assert.Empty(StubEditor.ExecutedMenuItems);

        Assert.True(menu.Execute("Edit/Play"));
        Assert.False(menu.Execute("Nowhere/At All"));
        Assert.True(menu.Execute("Tools/Twice"));
        Assert.Equal(["Edit/Play", "Nowhere/At All", "Tools/Twice"], StubEditor.ExecutedMenuItems);
    }

    [Fact]
    public async Task A_search_answers_when_its_list_is_full_or_done()
    {
        using var search = new UnitySearch();
        Assert.Equal(["asset", "log"], search.Providers().Select(one => one.Id));
        var found = search.FindAsync("t:Material", [], SearchMode.Default, 2, default);
        Assert.Equal(["asset"], SearchService.LastContext.Providers);
        SearchService.Last.Add(new SearchItem("GlobalObjectId_V1-1-x") { provider = SearchService.Providers[0] });
        search.Tick();
        Assert.False(found.IsCompleted);
        SearchService.Last.Add(null!);
        SearchService.Last.Add(new SearchItem("whatever"));
        search.Tick();

        var hits = await found;
        Assert.Equal(["Assets/Found.mat", ""], hits.Select(hit => hit.Path));
        Assert.Equal(("asset", "ScriptableObject"), (hits[0].Provider, hits[0].Type));
        Assert.True(SearchService.Last.IsDisposed);
        Assert.True(SearchService.LastContext.IsDisposed);

        var cut = search.FindAsync("x", ["log"], SearchMode.Default, 2, default);
        search.Dispose();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cut);
    }

    [Fact]
    public void Scenes_are_read_with_their_children_and_missing_scripts()
    {
        var root = new GameObject("Root");
        var child = new GameObject("Child");
        child.AddMissing();
        child.transform.SetParent(root.transform, false);
        root.AddComponent<Mover>();
        var scenes = new UnityScenes();

        var read = Assert.Single(scenes.Roots());
        Assert.Equal(["Transform", "Mover"], read.Components);
        Assert.Equal(("Root/Child", "Main"), (read.Children.First().Path, read.Children.First().Scene));
        Assert.Equal(["Transform", "Missing script"], read.Children.First().Components);
        Assert.Equal(["Root"], scenes.Selection());

        string[] Values(bool inherited) => scenes.Components(read, inherited)
            .Single(one => one.Type == "Mover").Properties.Select(one => $"{one.Name}={one.Value}").ToArray();
        Assert.Equal(["Speed=1.5", "Kind=Fast", "Target=none"], Values(false));
        Assert.Equal(["Speed=1.5", "Kind=Fast", "Target=none", "Base=3"], Values(true));
    }

    [Fact]
    public void Changes_of_assets_are_counted_over_reloads()
    {
        var before = AssetChanges.Count;
        var changed = typeof(AssetChanges).GetMethod("OnPostprocessAllAssets", BindingFlags.Static | BindingFlags.NonPublic)!;
        changed.Invoke(null, [new[] { "Assets/A.cs" }, Array.Empty<string>(), Array.Empty<string>(), Array.Empty<string>()]);
        changed.Invoke(null, [Array.Empty<string>(), Array.Empty<string>(), Array.Empty<string>(), Array.Empty<string>()]);
        Assert.Equal(before + 1, AssetChanges.Count);
        Assert.True(before > 1_600_000_000, "a new session counts on from the clock");
    }

    [Fact]
    public void What_a_call_changed_is_counted_before_the_next_tick()
    {
        var info = new UnityEditorInfo(new UnitySettings(), () => false);
        info.Refresh();
        var changed = typeof(AssetChanges).GetMethod("OnPostprocessAllAssets", BindingFlags.Static | BindingFlags.NonPublic)!;
        changed.Invoke(null, [new[] { "Assets/A.cs" }, Array.Empty<string>(), Array.Empty<string>(), Array.Empty<string>()]);
        var atItsEnd = info.AssetCounter;
        Assert.Equal(AssetChanges.Count, atItsEnd);
        var heard = 0L;
        var heartbeat = new Thread(() => heard = info.AssetCounter);
        heartbeat.Start();
        heartbeat.Join();
        Assert.Equal(atItsEnd, heard);
    }

    [Fact]
    public void Settings_are_saved_and_any_thread_reads_the_new_ones()
    {
        var settings = new UnitySettings();
        ISecuritySettings security = settings;
        settings.Change(new BridgeSettings
        {
            Port = 8755,
            Allowed = [SecuritySetting.MenuItemExecution, SecuritySetting.BuildExecution],
            PlainSurface = true,
            BuildFolders = ["/m"],
            Labels = ["gpu"],
        });
        Assert.True(security.Current.IsOn(SecuritySetting.MenuItemExecution));
        Assert.Equal(1, StubEditor.SavedSettings);
        Assert.Equal(8755, new UnitySettings().Current.Port);
        Assert.True(new UnitySettings().Current.PlainSurface);
        Assert.True(new UnitySettings().Current.IsOn(SecuritySetting.BuildExecution));
        Assert.Equal(["/m"], new UnitySettings().Current.BuildFolders);
        Assert.Equal(["gpu"], new UnitySettings().Current.Labels);
        settings.Change(new BridgeSettings());
        Assert.False(security.Current.IsOn(SecuritySetting.MenuItemExecution));
        Assert.Null(new UnitySettings().Current.Port);
        Assert.False(settings.Current.IsOn(SecuritySetting.CodeExecution));
        Assert.False(new UnitySettings().Current.PlainSurface);
        Assert.Empty(new UnitySettings().Current.BuildFolders);
    }
}
