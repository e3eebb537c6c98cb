#nullable enable
using System;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// What is said of the operation that waits at the head of the main lane: at once, when it waits for something else, and
    /// again and again, as a worker may come that has not heard it. Main thread only.
    /// </summary>
    internal sealed class ReadinessWait
    {
        private const int AgainMs = 5_000;

        private string operationId = "";
        private string reason = "";
        private long since;
        private long saidAt;

        /// <summary>The sentence to report now; null when nothing new is to be said.</summary>
        public string? Say(string operationId, string reason, long nowMs)
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
