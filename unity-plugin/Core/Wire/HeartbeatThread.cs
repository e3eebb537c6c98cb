#nullable enable
using System;
using System.Diagnostics;
using System.Threading;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// Calls <c>beat</c> at a steady rate from a thread of its own, however busy the main thread is. Beats are due at
    /// multiples of the interval since the start, so they do not drift; missed ones (a laptop slept) are not made up
    /// for.
    /// </summary>
    public sealed class HeartbeatThread
    {
        private readonly object gate = new object();
        private readonly int intervalMs;
        private readonly Action beat;
        private readonly IBridgeLog log;
        private readonly BridgeThread thread;
        private bool stopping;
        private string lastProblem = "";

        /// <summary>
        /// Starts; the first beat is due after one interval. An exception from a beat is logged, repeated ones once.
        /// </summary>
        public HeartbeatThread(int intervalMs, Action beat, IBridgeLog log)
        {
            if (intervalMs <= 0) throw new ArgumentOutOfRangeException(nameof(intervalMs));
            this.intervalMs = intervalMs;
            this.beat = beat;
            this.log = log;
            thread = BridgeThread.Start("heartbeat", Run, error => log.Warn("The heartbeat ended: " + error));
        }

        /// <summary>Ends it; false when a beat does not return in time.</summary>
        public bool Stop(int milliseconds)
        {
            lock (gate)
            {
                stopping = true;
                Monitor.Pulse(gate);
            }
            return thread.Join(milliseconds);
        }

        private void Run()
        {
            var clock = Stopwatch.StartNew();
            for (var due = (long)intervalMs; WaitUntil(due, clock);)
            {
                try
                {
                    beat();
                    lastProblem = "";
                }
                catch (Exception error)
                {
                    if (error.Message != lastProblem) log.Warn("A heartbeat failed: " + error);
                    lastProblem = error.Message;
                }
                due = (clock.ElapsedMilliseconds / intervalMs + 1) * intervalMs;
            }
        }

        /// <summary>False when it is time to end.</summary>
        private bool WaitUntil(long due, Stopwatch clock)
        {
            lock (gate)
            {
                while (!stopping)
                {
                    var left = due - clock.ElapsedMilliseconds;
                    if (left <= 0) return true;
                    Monitor.Wait(gate, (int)left);
                }
                return false;
            }
        }
    }
}
