#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// The progress of all calls, and the thread that sends reports held back by the rate limit. Any thread.
    /// </summary>
    public sealed class ProgressBoard
    {
        private readonly object gate = new object();
        private readonly Dictionary<string, ProgressSink> sinks = new Dictionary<string, ProgressSink>(StringComparer.Ordinal);
        private readonly IClock clock;
        private readonly int intervalMs;
        private readonly Action<JObject> send;
        private readonly LineOutlet? lines;
        private readonly BridgeThread thread;
        private bool stopped;
        private bool woken;

        /// <param name="lines">Where the Console's lines go; null: they are not sent.</param>
        public ProgressBoard(
            IClock clock, int intervalMs, Action<JObject> send, Action<Exception> crashed, LineOutlet? lines = null)
        {
            this.clock = clock;
            this.intervalMs = intervalMs;
            this.send = send;
            this.lines = lines;
            thread = BridgeThread.Start("progress", Run, crashed);
        }

        /// <summary>The sink of an operation; one that has reported while it waited goes on with it.</summary>
        public ProgressSink Open(string operationId)
        {
            lock (gate)
            {
                if (sinks.TryGetValue(operationId, out var known)) return known;
                return sinks[operationId] = new ProgressSink(operationId, clock, intervalMs, send, lines, Wake);
            }
        }

        /// <summary>The Console has written a line while this operation runs; nothing once it has ended.</summary>
        public void Log(string operationId, ConsoleLine line)
        {
            ProgressSink? sink;
            lock (gate) sinks.TryGetValue(operationId, out sink);
            sink?.Log(line);
        }

        /// <summary>The newest report of an operation, also after its end until it is forgotten.</summary>
        public JObject? Last(string operationId)
        {
            ProgressSink? sink;
            lock (gate) sinks.TryGetValue(operationId, out sink);
            return sink?.Last;
        }

        public void Forget(string operationId)
        {
            lock (gate) sinks.Remove(operationId);
        }

        public bool Stop(int milliseconds)
        {
            lock (gate)
            {
                stopped = true;
                Monitor.PulseAll(gate);
            }
            return thread.Join(milliseconds);
        }

        private void Wake()
        {
            lock (gate)
            {
                woken = true;
                Monitor.PulseAll(gate);
            }
        }

        private void Run()
        {
            var wait = Timeout.Infinite;
            while (true)
            {
                List<ProgressSink> all;
                lock (gate)
                {
                    if (!stopped && !woken) Monitor.Wait(gate, wait);
                    if (stopped) return;
                    woken = false;
                    all = new List<ProgressSink>(sinks.Values);
                }
                wait = Timeout.Infinite;
                foreach (var sink in all)
                {
                    var due = sink.FlushIfDue();
                    if (due != null && (wait == Timeout.Infinite || due < wait)) wait = Math.Max(1, due.Value);
                }
            }
        }
    }
}
