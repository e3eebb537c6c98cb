#nullable enable
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Execution
{
    /// <summary>The main lane: one operation at a time, in order, on the main thread.</summary>
    public sealed class MainLane
    {
        /// <summary>How long one pump may begin further operations before it yields the main thread.</summary>
        private const int PumpBudgetMs = 8;

        private readonly OperationQueue queue;
        private readonly Executor executor;
        private readonly ReadinessWait readiness;
        private readonly IClock clock;
        private readonly IMainThread mainThread;
        private volatile LedgerOperation? onMainThread;
        private ToolCall? current;
        private bool pumping;

        public MainLane(
            OperationQueue queue, Executor executor, ReadinessWait readiness, IClock clock, IMainThread mainThread)
        {
            this.queue = queue;
            this.executor = executor;
            this.readiness = readiness;
            this.clock = clock;
            this.mainThread = mainThread;
        }

        /// <summary>The operation that runs here; null when the lane is free. Any thread.</summary>
        public LedgerOperation? Current => onMainThread;

        /// <summary>True while an operation runs here, or waits to. Any thread.</summary>
        public bool IsBusy => onMainThread != null || queue.NextMain() != null;

        /// <summary>Asks for a pump soon. Any thread.</summary>
        public void Wake() => mainThread.Wake();

        /// <summary>Settles what ended and begins what is queued. Main thread only.</summary>
        public void Pump()
        {
            // A tool that shows a dialog or a progress bar lets the Editor tick inside its own call.
            if (pumping) return;
            pumping = true;
            try
            {
                Run(clock.ElapsedMs + PumpBudgetMs);
            }
            finally
            {
                pumping = false;
            }
        }

        /// <summary>Settles the operation that runs here if it has ended; true when the lane is free. Main thread only.</summary>
        public bool SettleEnded()
        {
            var call = current;
            if (call == null) return true;
            if (!call.Task.IsCompleted) return false;
            executor.Finish(call);
            current = null;
            onMainThread = null;
            return true;
        }

        private void Run(long deadline)
        {
            while (SettleEnded())
            {
                if (clock.ElapsedMs >= deadline)
                {
                    Wake();
                    return;
                }
                var next = queue.NextMain();
                // It stays queued while it waits, so that a domain reload or a cancellation meets what has not begun; those
                // behind it wait as well, as the lane keeps its order.
                if (next == null || readiness.Holds(next)) return;
                if (!queue.TakeMain(next)) continue;
                current = executor.Start(next, () => onMainThread = next.Operation);
                // What has ended by now is settled in this very pump: it needs no further tick.
                if (current is { Task: { IsCompleted: false } task }) WakeAtItsEnd(task);
            }
        }

        private void WakeAtItsEnd(Task task) => task.ContinueWith(
            _ => Wake(),
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);
    }
}
