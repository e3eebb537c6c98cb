#nullable enable
using System;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Where the steps of the bridge's build go. Unity makes the hooks itself, so they find it here; it is set only
    /// while BuildPlayer blocks the main thread, and no domain reload can come then.
    /// </summary>
    internal static class BuildStepSink
    {
        private static volatile Action<string, double>? current;

        /// <summary>Runs a build whose steps go to <paramref name="step"/>. Main thread only.</summary>
        public static T During<T>(Action<string, double> step, Func<T> build)
        {
            current = step;
            try
            {
                return build();
            }
            finally
            {
                current = null;
            }
        }

        /// <summary>Reports a step; does nothing in a build that is not the bridge's. Any thread.</summary>
        /// <param name="fraction">From 0 to 1; negative when unknown.</param>
        public static void Report(string step, double fraction = -1) => current?.Invoke(step, fraction);
    }
}
