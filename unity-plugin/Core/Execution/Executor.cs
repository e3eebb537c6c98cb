#nullable enable
using System;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// One operation from accepted to its outcome: journal <c>running</c>, invoke the tool, journal the outcome, report
    /// it. The journal comes first both times, as an invocation without <c>running</c> on disk would allow a second run; only
    /// an outcome is reported without it, where the disk refuses it.
    /// </summary>
    public sealed class Executor
    {
        private readonly Beginning beginning;
        private readonly ToolCalls calls;
        private readonly Settlement settlement;

        public Executor(Beginning beginning, ToolCalls calls, Settlement settlement)
        {
            this.beginning = beginning;
            this.calls = calls;
            this.settlement = settlement;
        }

        /// <summary>Begins or resumes it on the calling thread; null when it must not be invoked.</summary>
        /// <param name="invoking">Called once it has begun, before the tool is.</param>
        public ToolCall? Start(QueuedOperation item, Action? invoking = null)
        {
            if (!item.Resumes && !beginning.Begin(item)) return null;
            invoking?.Invoke();
            return calls.Start(item);
        }

        /// <summary>Settles a call whose task is complete.</summary>
        public void Finish(ToolCall call)
        {
            settlement.Settle(call.Operation, calls.End(call));
            calls.Forget(call);
        }
    }
}
