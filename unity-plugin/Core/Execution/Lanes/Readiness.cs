#nullable enable
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// Whether an operation may begin now: what changes or tests the project does not begin while Unity itself changes it. Pure.
    /// </summary>
    public static class Readiness
    {
        /// <summary>What the operation waits for, as people say it; null when it may begin.</summary>
        /// <param name="phase">The Editor's phase, see <see cref="Adapter.EditorPhase"/>.</param>
        /// <param name="beginsWhileBusy">Of the tool: it is there to wait for Unity, or to stop it.</param>
        public static string? WaitsFor(string phase, ToolEffect effect, bool beginsWhileBusy)
        {
            return effect == ToolEffect.ReadOnly || beginsWhileBusy ? null : WorkOf(phase);
        }

        /// <summary>What Unity does by itself in this phase, as people say it; null when that is nothing.</summary>
        public static string? WorkOf(string phase)
        {
            switch (phase)
            {
                case "building":
                    return "a player is built";
                case "compiling":
                    return "scripts compile";
                case "importing":
                    return "assets are imported";
                case "changing_play_mode":
                    return "play mode changes";
                case "testing":
                    // The main lane is free: a person began them, or an operation that was lost.
                    return "other tests run";
                default:
                    return null;
            }
        }
    }
}
