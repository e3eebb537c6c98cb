#nullable enable
using System;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// Whether the head of the main lane waits for Unity, and what is said of it meanwhile: at once, when it waits for
    /// something else, and again and again, as a worker may come that has not heard it. Main thread only.
    /// </summary>
    public sealed class ReadinessWait
    {
        private const int AgainMs = 5_000;

        private readonly Func<string> phase;
        private readonly ProgressBoard progress;
        private readonly IClock clock;
        private string operationId = "";
        private string reason = "";
        private long since;
        private long saidAt;

        /// <param name="phase">The Editor's phase at this moment; called on the main thread.</param>
        public ReadinessWait(Func<string> phase, ProgressBoard progress, IClock clock)
        {
            this.phase = phase;
            this.progress = progress;
            this.clock = clock;
        }

        /// <summary>True while Unity is not ready for it, which is reported as its progress.</summary>
        public bool Holds(QueuedOperation next)
        {
            var reason = next.Resumes
                ? null
                : Readiness.WaitsFor(phase(), next.Tool.Effect, next.Tool.BeginsWhileBusy);
            if (reason == null) return false;
            var operationId = next.Operation.OperationId;
            var said = Say(operationId, reason, clock.ElapsedMs);
            if (said != null) progress.Open(operationId).Report(0, message: said);
            return true;
        }

        /// <summary>The sentence to report now; null when nothing new is to be said.</summary>
        private string? Say(string operationId, string reason, long nowMs)
        {
            var isSame = operationId == this.operationId;
            if (isSame && reason == this.reason && nowMs - saidAt < AgainMs) return null;
            if (!isSame) since = nowMs;
            this.operationId = operationId;
            this.reason = reason;
            saidAt = nowMs;
            var minutes = (nowMs - since) / 60_000;
            if (minutes == 0) return $"Waits: {reason}";
            return $"Waits: {reason}. It has waited for {minutes} min and has not begun; it can be cancelled.";
        }
    }
}
