#nullable enable
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// Runs operations in two lanes: <see cref="MainLane"/> with the Editor's ticks, <see cref="BackgroundLane"/> on
    /// threads of its own. In either one <see cref="Executor"/> takes an operation from accepted to its outcome.
    /// </summary>
    public sealed class ExecutionEngine
    {
        private readonly OperationQueue queue;
        private readonly MainLane main;
        private readonly BackgroundLane background;
        private readonly ToolCalls calls;
        private readonly Settlement settlement;

        public ExecutionEngine(
            OperationQueue queue, MainLane main, BackgroundLane background, ToolCalls calls, Settlement settlement)
        {
            this.queue = queue;
            this.main = main;
            this.background = background;
            this.calls = calls;
            this.settlement = settlement;
        }

        /// <summary>The operation on the main lane; null when it is free. Any thread.</summary>
        public LedgerOperation? Current => main.Current;

        /// <summary>True while the main lane has an operation, queued ones included. Any thread.</summary>
        public bool IsBusy => main.IsBusy;

        /// <summary>Queues an accepted operation, or one that resumes after a domain reload. Any thread.</summary>
        public void Queue(LedgerOperation operation, RegisteredTool tool, bool resumes = false)
        {
            queue.Add(new QueuedOperation(operation, tool, resumes));
            if (tool.Lane == ToolLanes.Main) main.Wake();
        }

        /// <summary>
        /// Advances the main lane: settles what ended and begins what is queued. Main thread only, on every tick.
        /// </summary>
        public void Pump() => main.Pump();

        /// <summary>
        /// Ends the engine before a domain reload or quit: ended calls are settled, running calls are abandoned without
        /// an outcome. Main thread only; false when a thread did not end in time.
        /// </summary>
        public bool Stop(int milliseconds)
        {
            main.SettleEnded();
            queue.Close();
            var inTime = calls.Abandon(milliseconds);
            return background.Join(milliseconds) && inTime;
        }
    }
}
