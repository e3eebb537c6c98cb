namespace JobBroker.EditorHost.Native;

/// <summary>Play mode as Unity has it: it is asked for, and comes behind a domain reload. Main thread only.</summary>
public sealed class NativePlayMode
{
    private const double OnTheWaySeconds = 0.05;
    private const int OnTheWayUpdates = 3;

    private readonly NativeEditor native;
    private volatile bool isPlaying;
    private volatile bool willPlay;
    private bool steps;

    public NativePlayMode(NativeEditor native)
    {
        this.native = native;
        native.Loop.Ticked += Play;
    }

    /// <summary>Any thread.</summary>
    public bool IsPlaying
    {
        get => isPlaying;
        private set => isPlaying = value;
    }

    /// <summary>What it is on its way to. Any thread.</summary>
    public bool WillPlay
    {
        get => willPlay;
        private set => willPlay = value;
    }

    public bool IsPaused { get; set; }

    public int Frame { get; private set; }

    public void Enter(Action reload)
    {
        if (WillPlay) return;
        WillPlay = true;
        native.Loop.After(OnTheWaySeconds * native.TimeScale, () =>
        {
            if (native.Script.PlayModeReloads) reload();
            native.Loop.Post(Arrive);
        }, OnTheWayUpdates);
    }

    public void Exit()
    {
        if (!WillPlay) return;
        WillPlay = false;
        native.Loop.After(OnTheWaySeconds * native.TimeScale, Arrive, OnTheWayUpdates);
    }

    public void Step()
    {
        IsPaused = true;
        steps = true;
    }

    private void Arrive()
    {
        IsPlaying = WillPlay;
        Frame = 0;
        if (!IsPlaying) IsPaused = false;
    }

    private void Play()
    {
        if (!IsPlaying || (IsPaused && !steps)) return;
        steps = false;
        Frame++;
    }
}
