#nullable enable
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Unity's play mode: what it is asked for begins with a later tick. Main thread only.</summary>
    internal sealed class UnityPlayMode : IPlayMode
    {
        public PlayModeState State => new PlayModeState(
            EditorApplication.isPlaying,
            EditorApplication.isPlayingOrWillChangePlaymode,
            EditorApplication.isPaused,
            Time.frameCount);

        public void Enter() => EditorApplication.isPlaying = true;

        public void Exit() => EditorApplication.isPlaying = false;

        public void Pause(bool paused) => EditorApplication.isPaused = paused;

        public void Step() => EditorApplication.Step();
    }
}
