#nullable enable
using System;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// The progress of one running call, and what the Console says meanwhile: of each at most one notification an interval is
    /// sent, the last one always. Any thread.
    /// </summary>
    public sealed class ProgressSink : IProgressSink
    {
        private readonly object gate = new object();
        private readonly string operationId;
        private readonly IClock clock;
        private readonly int intervalMs;
        private readonly Action<JObject> send;
        private readonly LineOutlet? outlet;
        private readonly Action heldBack;
        private readonly HeldLines lines = new HeldLines();
        private JObject? held;
        private JObject? last;
        private long lastSentAt = long.MinValue / 2;
        private long linesSentAt = long.MinValue / 2;
        private long seq;
        private volatile bool closed;

        /// <param name="outlet">Null: lines are not sent.</param>
        /// <param name="heldBack">Called when something waits: <see cref="FlushIfDue"/> has to be called later.</param>
        public ProgressSink(
            string operationId, IClock clock, int intervalMs, Action<JObject> send, LineOutlet? outlet, Action heldBack)
        {
            this.operationId = operationId;
            this.clock = clock;
            this.intervalMs = intervalMs;
            this.send = send;
            this.outlet = outlet;
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
        /// Keeps a line of the Console until the next notification. It is never sent on this thread, which may hold any lock.
        /// </summary>
        public void Log(ConsoleLine line)
        {
            if (outlet == null || closed) return;
            if (lines.Add(line)) heldBack();
        }

        /// <summary>
        /// Sends what is held back if its interval is over; returns the ms until then, or null when nothing is held
        /// back.
        /// </summary>
        public int? FlushIfDue()
        {
            lock (gate)
            {
                if (closed) return null;
                if (held != null && Left(lastSentAt) <= 0) SendHeld();
                if (Left(linesSentAt) <= 0) SendLines();
                int? report = held == null ? (int?)null : Left(lastSentAt);
                int? log = lines.Any ? Left(linesSentAt) : (int?)null;
                return report < log || log == null ? report : log;
            }
        }

        /// <summary>Sends what is held back and takes no more: the outcome comes next.</summary>
        public void Close()
        {
            lock (gate)
            {
                SendHeld();
                SendLines();
                closed = true;
            }
        }

        private int Left(long sentAt) => (int)Math.Max(0, sentAt + intervalMs - clock.ElapsedMs);

        private void SendHeld()
        {
            if (held == null || closed) return;
            var report = held;
            held = null;
            lastSentAt = clock.ElapsedMs;
            send((JObject)report.DeepClone());
        }

        /// <summary>Lines that no worker takes at the moment stay.</summary>
        private void SendLines()
        {
            if (outlet == null || closed || !lines.Any) return;
            linesSentAt = clock.ElapsedMs;
            if (outlet.IsOpen() && lines.Take(operationId) is { } notification) outlet.Send(notification);
        }
    }
}
