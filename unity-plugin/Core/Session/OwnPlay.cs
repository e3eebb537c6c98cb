#nullable enable
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Session
{
    /// <summary>Whether play mode lasts that began while an operation ran. The session store keeps it over domain reloads. Main thread only.</summary>
    internal sealed class OwnPlay
    {
        private const string Key = "JobBroker.OwnPlay";

        private readonly IPlayMode playMode;
        private readonly ISessionStore store;
        private bool lasts;

        public OwnPlay(IPlayMode playMode, ISessionStore store)
        {
            this.playMode = playMode;
            this.store = store;
            lasts = store.Get(Key) != null;
        }

        /// <summary>Looks at play mode as it is in this tick.</summary>
        public bool Lasts(bool isOperationOpen)
        {
            var phase = playMode.State.Phase;
            var now = phase != PlayModePhase.Edit && (lasts || (isOperationOpen && phase == PlayModePhase.Entering));
            if (now != lasts) store.Set(Key, now ? "1" : null);
            return lasts = now;
        }
    }
}
