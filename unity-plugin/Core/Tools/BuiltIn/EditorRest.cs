#nullable enable
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// Whether Unity has come to rest: it neither compiles nor imports on several ticks in a row. One tick does not say so:
    /// what follows a change begins with a later one. Main thread only.
    /// </summary>
    internal sealed class EditorRest
    {
        private const int Ticks = 3;

        private readonly ToolServices services;
        private long since;
        private int calm;

        public EditorRest(ToolServices services)
        {
            this.services = services;
        }

        /// <summary>In play mode Unity keeps what follows a change for its end: there is nothing to wait for.</summary>
        public static void RefuseInPlayMode(ToolServices services)
        {
            if (services.Editor.Phase != "playing") return;
            throw new ToolException("editor_is_playing", "The Editor is in play mode; leave it first (control-play-mode, Action: Exit). Nothing was changed.");
        }

        /// <summary>Asked once on each tick.</summary>
        public bool Look()
        {
            var phase = services.Editor.Phase;
            if (phase == "compiling" || phase == "importing")
            {
                calm = 0;
                return false;
            }
            if (calm++ == 0) since = services.Clock.ElapsedMs;
            return calm >= Ticks;
        }

        /// <summary>For how long it has been at rest; 0 while it is not.</summary>
        public long RestedMs => calm < Ticks ? 0 : services.Clock.ElapsedMs - since;
    }
}
