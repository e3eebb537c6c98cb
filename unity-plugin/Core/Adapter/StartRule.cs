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

        /// <summary>
        /// Import workers never: they would share port and ledger with their Editor. Batch mode only when it is asked
        /// for: a build server must not open a port by itself. With windows always.
        /// </summary>
        /// <param name="environment">The value of <see cref="Variable"/>; null when it is not set.</param>
        public static bool MayRun(bool isImportWorker, bool isBatchMode, IEnumerable<string> commandLine, string? environment)
        {
            if (isImportWorker) return false;
            if (!isBatchMode) return true;
            return environment == "1"
                || commandLine.Any(word => string.Equals(word, Switch, StringComparison.OrdinalIgnoreCase));
        }

        /// <summary>Whether it listens without a click; always in batch mode, which has no window.</summary>
        public static bool StartsItself(bool isBatchMode, bool autoStart) => isBatchMode || autoStart;
    }
}
