#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEngine;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>Eyes and play mode over the stubs' Editor, whose textures are rows of one byte, the lowest first.</summary>
public sealed class ViewTests
{
    private readonly StubbedEditor editor = new();
    private readonly UnityScreen screen = new();

    /// <summary>The rows of a picture from its top.</summary>
    private static byte[] Rows(PixelImage? image) =>
        Enumerable.Range(0, image!.Height).Select(row => image.Rgb[row * image.Width * 3]).ToArray();

    private static T Open<T>(string title) where T : EditorWindow
    {
        var window = ScriptableObject.CreateInstance<T>();
        window.titleContent.text = title;
        window.position = new Rect(0, 0, 2, 1);
        return window;
    }

    [Theory]
    [InlineData(false, new byte[] { 3, 2, 1 })]
    [InlineData(true, new byte[] { 1, 2, 3 })]
    public void The_Game_view_is_shown_and_read_from_its_top(bool startsAtTop, byte[] rows)
    {
        StubEditor.StartsAtTop = startsAtTop;
        var game = Open<GameView>("Game");
        game.Show(RenderTexture.Of(4, 1, 2, 3));
        StubEditor.GameView = game;
        Assert.Equal(rows, Rows(screen.Game()));
        Assert.Equal(["tab Game", "repaint Game"], StubEditor.Shown);
        Assert.Null(RenderTexture.active);
    }

    [Fact]
    public void Without_a_Game_view_the_cameras_are_read_and_left_as_they_were()
    {
        Assert.Null(screen.Game());
        var busy = new Camera { targetTexture = RenderTexture.Of(1, 9) };
        StubEditor.Cameras.AddRange([new Camera { depth = 1, Sees = [7] }, new Camera { Sees = [3, 4] }, busy]);
        Assert.Equal([4, 7], Rows(screen.Game()).TakeLast(2));
        Assert.All(StubEditor.Cameras, one => Assert.True(one.targetTexture == null || one == busy));
        Assert.Empty(RenderTexture.Taken);
        // A Game view that has drawn nothing yet.
        StubEditor.GameView = Open<GameView>("Game");
        Assert.Equal(720, screen.Game()!.Height);
    }

    [Fact]
    public void A_camera_that_fails_is_left_as_it_was()
    {
        var failing = new Camera { Sees = null! };
        StubEditor.Cameras.Add(failing);
        Assert.ThrowsAny<Exception>(() => screen.Game());
        Assert.Null(failing.targetTexture);
        Assert.Empty(RenderTexture.Taken);
    }

    [Fact]
    public void The_Scene_view_is_as_large_as_its_window()
    {
        Assert.Null(screen.Scene());
        var view = Open<SceneView>("Scene");
        view.camera = new Camera();
        StubEditor.SceneView = view;
        var image = screen.Scene();
        Assert.Equal((4, 2), (image!.Width, image.Height));
        Assert.Equal([2, 1], Rows(image));
        Assert.Null(view.camera.targetTexture);
    }

    [Fact]
    public void A_window_is_found_by_its_title_brought_to_the_front_and_grabbed()
    {
        Assert.Null(screen.Window("Inspector"));
        var inspector = Open<EditorWindow>("Inspector");
        Open<EditorWindow>("");
        Assert.Equal(["Inspector"], screen.Windows());
        Assert.Null(screen.Window("Inspector"));
        inspector.m_Parent = new HostView();
        Assert.Equal([6, 5], Rows(screen.Window("Inspector")));
        Assert.Contains("tab Inspector", StubEditor.Shown);
        Assert.Empty(RenderTexture.Taken);
    }

    [Fact]
    public void Unity_encodes_rows_from_the_bottom()
    {
        var image = new PixelImage(1, 2, [1, 1, 1, 2, 2, 2]);
        Assert.Equal([0x89, 2, 2, 2, 1, 1, 1], screen.Encode(image, ImageFormat.Png));
        Assert.Equal([0xff, 80, 2, 2, 2, 1, 1, 1], screen.Encode(image, ImageFormat.Jpg));
        Assert.True(screen.HasGraphics);
        StubEditor.HasGraphics = false;
        Assert.False(screen.HasGraphics);
    }

    [Fact]
    public void Play_mode_is_asked_for_and_is_on_the_way_until_Unity_has_arrived()
    {
        StubEditor.PlaysLater = true;
        var playMode = new UnityPlayMode();
        Assert.Equal(PlayModePhase.Edit, playMode.State.Phase);
        playMode.Enter();
        Assert.Equal(PlayModePhase.Entering, playMode.State.Phase);
        Assert.False(playMode.State.Is(true));
        StubEditor.IsPlaying = true;
        StubEditor.IsChangingPlayMode = false;
        Assert.True(playMode.State.Is(true));
        playMode.Step();
        Assert.Equal((PlayModePhase.Paused, 1), (playMode.State.Phase, playMode.State.Frame));
        playMode.Pause(false);
        Assert.Equal(PlayModePhase.Playing, playMode.State.Phase);
        playMode.Exit();
        Assert.Equal(PlayModePhase.Exiting, playMode.State.Phase);
        Assert.False(playMode.State.Is(false));
    }

    [Fact]
    public void Scenes_and_selection_are_told_as_they_are()
    {
        StubEditor.Scenes[0].IsDirty = true;
        var inScene = new GameObject("Player");
        var asset = ScriptableObject.CreateInstance<ScriptableObject>();
        asset.name = "Assets/Red.asset";
        StubEditor.Selected.AddRange([inScene, asset]);
        var state = new UnityState();
        var scene = Assert.Single(state.Scenes());
        Assert.Equal(("Main", "Assets/Main.unity", true, true), (scene.Name, scene.Path, scene.IsDirty, scene.IsActive));
        Assert.Equal(("GameObject", "/Player", null), (state.Selected()[0].Type, state.Selected()[0].Path, state.Selected()[0].AssetPath));
        Assert.Equal((null, "Assets/Red.asset"), (state.Selected()[1].Path, state.Selected()[1].AssetPath));
        Assert.Equal("Water", state.Layers()[4]);
        Assert.Contains("Player", state.Tags());
        Assert.Null(state.OpenPrefab);
        StubEditor.PrefabInStage = new StubScene("Box", "Assets/Box.prefab");
        Assert.Equal("Assets/Box.prefab", state.OpenPrefab);
    }
}
