#nullable enable
using System;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// The progress of one running call: at most one report an interval is sent, the last one always. Any thread.
    /// </summary>
    public sealed class ProgressSink : IProgressSink
    {
        private readonly object gate = new object();
        private readonly string operationId;
        private readonly IClock clock;
        private readonly int intervalMs;
        private readonly Action<JObject> send;
        private readonly Action heldBack;
        private JObject? held;
        private JObject? last;
        private long lastSentAt = long.MinValue / 2;
        private long seq;
        private bool closed;

        /// <param name="heldBack">Called when a report waits: <see cref="FlushIfDue"/> has to be called later.</param>
        public ProgressSink(string operationId, IClock clock, int intervalMs, Action<JObject> send, Action heldBack)
        {
            this.operationId = operationId;
            this.clock = clock;
            this.intervalMs = intervalMs;
            this.send = send;
            this.heldBack = heldBack;
        }

        /// <summary>The newest report as JSON of the wire; null before the first.</summary>
        public JObject? Last
        {
            get
            {
                lock (gate) return last;
            }
        }

        public void Report(double progress, double? total = null, string? message = null, object? partialResult = null)
        {
            var partial = partialResult == null ? null : ToolJson.From(partialResult);
            lock (gate)
            {
                if (closed) return;
                var report = new JObject { ["operationId"] = operationId, ["seq"] = ++seq, ["progress"] = progress };
                if (total != null) report["total"] = total;
                if (message != null) report["message"] = message;
                if (partial != null) report["partialResult"] = partial;
                held = report;
                last = report;
                if (clock.ElapsedMs - lastSentAt >= intervalMs) SendHeld();
                if (held == null) return;
            }
            heldBack();
        }

        /// <summary>
        /// Sends what is held back if its interval is over; returns the ms until then, or null when nothing is held
        /// back.
        /// </summary>
        public int? FlushIfDue()
        {
            lock (gate)
            {
                if (held == null || closed) return null;
                var wait = lastSentAt + intervalMs - clock.ElapsedMs;
                if (wait > 0) return (int)wait;
                SendHeld();
                return null;
            }
        }

        /// <summary>Sends what is held back and takes no more: the outcome comes next.</summary>
        public void Close()
        {
            lock (gate)
            {
                SendHeld();
                closed = true;
            }
        }

        private void SendHeld()
        {
            if (held == null || closed) return;
            var report = held;
            held = null;
            lastSentAt = clock.ElapsedMs;
            send((JObject)report.DeepClone());
        }
    }
}
