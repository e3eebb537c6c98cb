#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>
    /// Runs the parts of the bridge on the Editor's tick, each for itself: one that throws does not keep the others from
    /// running. The same fault is logged once, not with every tick. Main thread only.
    /// </summary>
    public sealed class TickGuard
    {
        private const int MostFaults = 100;

        private readonly IBridgeLog log;
        private readonly HashSet<string> told = new HashSet<string>();

        public TickGuard(IBridgeLog log)
        {
            this.log = log;
        }

        public void Run(string part, Action action)
        {
            try
            {
                action();
            }
            catch (Exception error)
            {
                if (told.Count < MostFaults && told.Add(part + error.GetType() + error.Message))
                {
                    log.Warn($"A part of the bridge ({part}) has failed: {error}");
                }
            }
        }
    }
}
