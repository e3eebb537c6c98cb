#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>Whether the bridge runs in a process of the Editor at all.</summary>
    public static class StartRule
    {
        public const string Switch = "-jobBroker";
        public const string Variable = "UNITY_JOB_BROKER";

        /// <summary>On the command line of the Editors that Multiplayer Play Mode starts beside the one that a person uses.</summary>
        private const string CloneSwitch = "--virtual-project-clone";

        /// <summary>
        /// Helpers of an Editor never: they would share port and ledger with it, and nobody sees them. Batch mode only when it
        /// is asked for: a build server must not open a port by itself. With windows always.
        /// </summary>
        /// <param name="isHelper">An import worker, or a secondary process (a profiler's window, for one).</param>
        /// <param name="environment">The value of <see cref="Variable"/>; null when it is not set.</param>
        public static bool MayRun(
            bool isHelper, bool isBatchMode, IReadOnlyCollection<string> commandLine, string? environment)
        {
            if (isHelper || commandLine.Contains(CloneSwitch)) return false;
            if (!isBatchMode) return true;
            return environment == "1"
                || commandLine.Any(word => string.Equals(word, Switch, StringComparison.OrdinalIgnoreCase));
        }

        /// <summary>Whether it listens without a click; always in batch mode, which has no window.</summary>
        public static bool StartsItself(bool isBatchMode, bool autoStart) => isBatchMode || autoStart;
    }
}
