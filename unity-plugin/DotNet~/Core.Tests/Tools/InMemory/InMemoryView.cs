using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

/// <summary>A play mode that goes on when the test says so.</summary>
public sealed class InMemoryPlayMode(FixedClock clock, TickWaits ticks) : IPlayMode
{
    private bool isPlaying;
    private bool willPlay;
    private bool isPaused;
    private int frame;

    public List<string> Asked { get; } = new();

    public PlayModeState State => new(isPlaying, willPlay, isPaused, frame);

    public void Enter() => Ask("enter", true);

    public void Exit() => Ask("exit", false);

    public void Pause(bool paused)
    {
        Asked.Add(paused ? "pause" : "resume");
        isPaused = paused;
    }

    public void Step() => Asked.Add("step");

    /// <summary>Unity has arrived where it was going.</summary>
    public void Arrive()
    {
        isPlaying = willPlay;
        if (!isPlaying) isPaused = false;
        ticks.Tick();
    }

    public void Played(int frames)
    {
        frame += frames;
        isPaused = true;
        ticks.Tick();
    }

    /// <summary>A person clicks Play, and Unity is on the way.</summary>
    public void Begin(bool playing) => willPlay = playing;

    /// <summary>Unity has forgotten what it was asked for.</summary>
    public void GiveUp()
    {
        willPlay = isPlaying;
        for (var tick = 0; tick < 5; tick++)
        {
            clock.ElapsedMs += 5000;
            ticks.Tick();
        }
    }

    private void Ask(string what, bool playing)
    {
        Asked.Add(what);
        willPlay = playing;
    }
}

public sealed class InMemoryState : IEditorState
{
    public List<OpenScene> Open { get; } = new() { new OpenScene { Name = "Main", Path = "Assets/Main.unity", IsLoaded = true, IsActive = true } };

    public List<SelectedObject> Chosen { get; } = new();

    public string? OpenPrefab { get; set; }

    public IReadOnlyList<OpenScene> Scenes() => Open;

    public IReadOnlyList<SelectedObject> Selected() => Chosen;

    public IReadOnlyList<string> Tags() => new[] { "Untagged", "Player" };

    public IReadOnlyList<string> Layers() => new[] { "Default", "", "", "", "Water" };
}

/// <summary>Shows one picture; an encoded one is as many bytes as the test says for its pixels.</summary>
public sealed class InMemoryScreen : IScreen
{
    public bool HasGraphics { get; set; } = true;

    public PixelImage? Shown { get; set; } = new(4, 2, Enumerable.Range(0, 24).Select(one => (byte)one).ToArray());

    public Func<PixelImage, ImageFormat, int> Bytes { get; set; } = (_, _) => 3;

    public List<string> Taken { get; } = new();

    public IReadOnlyList<string> Windows() => new[] { "Inspector", "Project" };

    public PixelImage? Game() => Take("game");

    public PixelImage? Scene() => Take("scene");

    public PixelImage? Window(string title) => Take(title);

    public byte[] Encode(PixelImage image, ImageFormat format) => new byte[Bytes(image, format)];

    private PixelImage? Take(string what)
    {
        Taken.Add(what);
        return Shown;
    }
}
