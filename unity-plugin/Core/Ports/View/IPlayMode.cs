#nullable enable

namespace JobBroker.Bridge.Ports
{
    /// <summary>Where the Editor stands between editing and playing, in one word.</summary>
    public enum PlayModePhase
    {
        Edit,
        Entering,
        Playing,
        Paused,
        Exiting,
    }

    /// <summary>Play mode at one moment.</summary>
    public readonly struct PlayModeState
    {
        /// <param name="willPlay">What the Editor plays, or is on its way to: differs from the first on the way.</param>
        public PlayModeState(bool isPlaying, bool willPlay, bool isPaused, int frame)
        {
            IsPlaying = isPlaying;
            IsChanging = isPlaying != willPlay;
            Frame = isPlaying ? frame : 0;
            Phase = IsChanging ? (isPlaying ? PlayModePhase.Exiting : PlayModePhase.Entering)
                : !isPlaying ? PlayModePhase.Edit
                : isPaused ? PlayModePhase.Paused : PlayModePhase.Playing;
        }

        public bool IsPlaying { get; }

        /// <summary>True while Unity enters or leaves play mode.</summary>
        public bool IsChanging { get; }

        /// <summary>How many frames were played; 0 outside of play mode.</summary>
        public int Frame { get; }

        public PlayModePhase Phase { get; }

        /// <summary>In or out of play mode, and not on the way.</summary>
        public bool Is(bool playing) => IsPlaying == playing && !IsChanging;
    }

    /// <summary>The Editor's play mode. Main thread only. What is asked for happens later, mostly behind a domain reload.</summary>
    public interface IPlayMode
    {
        PlayModeState State { get; }

        void Enter();

        void Exit();

        void Pause(bool paused);

        /// <summary>Plays one frame and pauses.</summary>
        void Step();
    }
}
