#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// Runs operations: journal <c>running</c>, invoke the tool, journal the outcome, report it. The journal comes
    /// first both times: an invocation without <c>running</c> on disk, or a reported outcome that a crash could undo,
    /// would each allow a second run.
    /// </summary>
    public sealed class ExecutionEngine
    {
        /// <summary>How long one pump may begin further operations before it yields the main thread.</summary>
        private const int PumpBudgetMs = 8;

        private readonly OperationLedger ledger;
        private readonly OperationQueue queue;
        private readonly CancellationRegistry cancellations;
        private readonly ProgressBoard progress;
        private readonly ResumeRecords resumeRecords;
        private readonly IClock clock;
        private readonly IMainThread mainThread;
        private readonly IBridgeLog log;
        private readonly Action<string, JObject> notify;
        private readonly Action<LedgerOperation> ended;
        private readonly Func<JObject> standing;
        private readonly Func<string> phase;
        private readonly Func<string, JObject, string?> securityRefusal;
        private readonly ReadinessWait wait = new ReadinessWait();
        private readonly List<BridgeThread> backgroundThreads = new List<BridgeThread>();
        private readonly List<KeyValuePair<LedgerOperation, Outcome>> unwritten =
            new List<KeyValuePair<LedgerOperation, Outcome>>();
        private volatile LedgerOperation? onMainThread;
        private Execution? current;
        private bool pumping;

        /// <param name="notify">Sends a notification to the worker; never blocks.</param>
        /// <param name="ended">Called once for every outcome, after it is durable, on the thread that wrote it.</param>
        /// <param name="standing">
        /// Returns the Editor's session, generation and asset counter for <see cref="Outcome.EndedIn"/>; any thread.
        /// </param>
        /// <param name="phase">The Editor's phase at this moment; called on the main thread.</param>
        /// <param name="securityRefusal">Why a call may not run now, as a sentence; null when it may; any thread.</param>
        public ExecutionEngine(
            OperationLedger ledger,
            OperationQueue queue,
            CancellationRegistry cancellations,
            ProgressBoard progress,
            ResumeRecords resumeRecords,
            IClock clock,
            IMainThread mainThread,
            IBridgeLog log,
            Action<string, JObject> notify,
            Action<LedgerOperation> ended,
            Func<JObject> standing,
            Func<string> phase,
            Func<string, JObject, string?> securityRefusal)
        {
            this.ledger = ledger;
            this.queue = queue;
            this.cancellations = cancellations;
            this.progress = progress;
            this.resumeRecords = resumeRecords;
            this.clock = clock;
            this.mainThread = mainThread;
            this.log = log;
            this.notify = notify;
            this.ended = ended;
            this.standing = standing;
            this.phase = phase;
            this.securityRefusal = securityRefusal;
            for (var i = 0; i < ToolLanes.BackgroundWidth; i++)
            {
                backgroundThreads.Add(BridgeThread.Start("lane" + i, RunBackground, Crashed));
            }
        }

        /// <summary>The operation on the main lane; null when it is free. Any thread.</summary>
        public LedgerOperation? Current => onMainThread;

        /// <summary>Queues an accepted operation, or one that resumes after a domain reload. Any thread.</summary>
        public void Queue(LedgerOperation operation, RegisteredTool tool, bool resumes = false)
        {
            queue.Add(new QueuedOperation(operation, tool, resumes));
            if (tool.Lane == ToolLanes.Main) mainThread.Wake();
        }

        /// <summary>
        /// Advances the main lane: settles what ended and begins what is queued. Main thread only, on every tick.
        /// </summary>
        public void Pump()
        {
            // A tool that shows a dialog or a progress bar lets the Editor tick inside its own call.
            if (pumping) return;
            pumping = true;
            try
            {
                RunMainLane(clock.ElapsedMs + PumpBudgetMs);
            }
            finally
            {
                pumping = false;
            }
        }

        /// <summary>
        /// Journals and reports an outcome, or keeps it unreported until it can be journalled. Any thread.
        /// </summary>
        public void Settle(LedgerOperation operation, Outcome outcome)
        {
            try
            {
                ledger.End(operation, outcome);
            }
            catch (LedgerUnavailableException error)
            {
                log.Warn($"The outcome of {operation.OperationId} is kept until the ledger can be written: {error.Message}");
                lock (unwritten) unwritten.Add(new KeyValuePair<LedgerOperation, Outcome>(operation, outcome));
                return;
            }
            ended(operation);
        }

        /// <summary>Retries outcomes that could not be journalled. Any thread; called with every heartbeat.</summary>
        public void RetryUnwritten()
        {
            KeyValuePair<LedgerOperation, Outcome>[] all;
            lock (unwritten)
            {
                if (unwritten.Count == 0) return;
                all = unwritten.ToArray();
                unwritten.Clear();
            }
            foreach (var pair in all) Settle(pair.Key, pair.Value);
        }

        /// <summary>
        /// Ends the engine before a domain reload or quit: ended calls are settled, running calls are abandoned without
        /// an outcome. Main thread only; false when a thread did not end in time.
        /// </summary>
        public bool Stop(int milliseconds)
        {
            SettleCurrent();
            RetryUnwritten();
            queue.Close();
            cancellations.AbandonAll();
            var inTime = progress.Stop(milliseconds);
            foreach (var thread in backgroundThreads) inTime &= thread.Join(milliseconds);
            return inTime;
        }

        private void RunMainLane(long deadline)
        {
            while (SettleCurrent())
            {
                if (clock.ElapsedMs >= deadline)
                {
                    mainThread.Wake();
                    return;
                }
                var next = queue.NextMain();
                if (next == null || Waits(next)) return;
                if (!queue.TakeMain(next)) continue;
                current = Start(next, operation => onMainThread = operation);
            }
        }

        /// <summary>
        /// True while Unity is not ready for it. It stays queued, so that a domain reload or a cancellation meets what has not
        /// begun; those behind it wait as well, as the lane keeps its order.
        /// </summary>
        private bool Waits(QueuedOperation next)
        {
            var reason = next.Resumes
                ? null
                : Readiness.WaitsFor(phase(), next.Tool.Effect, next.Tool.BeginsWhileBusy);
            if (reason == null) return false;
            var operationId = next.Operation.OperationId;
            var said = wait.Say(operationId, reason, clock.ElapsedMs);
            if (said != null) progress.Open(operationId).Report(0, message: said);
            return true;
        }

        /// <summary>True when the main lane is free.</summary>
        private bool SettleCurrent()
        {
            var execution = current;
            if (execution == null) return true;
            if (!execution.Task.IsCompleted) return false;
            Finish(execution);
            current = null;
            onMainThread = null;
            return true;
        }

        private void RunBackground()
        {
            for (var next = queue.TakeBackground(); next != null; next = queue.TakeBackground())
            {
                var execution = Start(next, _ => { });
                if (execution == null) continue;
                // Only ping and get-logs run here, and neither waits for anything.
                ((IAsyncResult)execution.Task).AsyncWaitHandle.WaitOne();
                Finish(execution);
            }
        }

        private Execution? Start(QueuedOperation item, Action<LedgerOperation> invoking)
        {
            var operation = item.Operation;
            var operationId = operation.OperationId;
            if (!item.Resumes && !Begin(item)) return null;
            var cancellation = cancellations.Enter(operationId, item.Tool.Cancellable, item.Tool.Resumable);
            var sink = progress.Open(operationId);
            var context = new ToolContext(operationId, sink, cancellation, record => SaveResumeRecord(operation, record));
            invoking(operation);
            var execution = new Execution(operation, sink, context, Invoke(item, context));
            // What has ended by now is settled in this very pump: it needs no further tick.
            if (execution.Task.IsCompleted) return execution;
            execution.Task.ContinueWith(
                _ => mainThread.Wake(),
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default);
            return execution;
        }

        /// <summary>The only way into <c>running</c>; false when the operation must not be invoked.</summary>
        private bool Begin(QueuedOperation item)
        {
            var operation = item.Operation;
            // Asked at submission as well; somebody may have switched it off while the call waited for its turn.
            var refusal = securityRefusal(item.Tool.Name, operation.Arguments as JObject ?? new JObject());
            try
            {
                lock (ledger.Gate)
                {
                    // Cancelled or revoked since it was taken from the queue.
                    if (operation.State != LedgerState.Accepted) return false;
                    if (refusal == null) ledger.Begin(operation);
                    else ledger.End(operation, Outcome.Error(LedgerState.Failed, "security_blocked", refusal, null, clock.NowMs));
                }
            }
            catch (LedgerUnavailableException error)
            {
                var message = "Not invoked: " + error.Message;
                ledger.EndUnwritten(
                    operation,
                    Outcome.Error(LedgerState.Failed, "ledger_unavailable", message, null, clock.NowMs));
                ended(operation);
                return false;
            }
            if (refusal != null)
            {
                ended(operation);
                return false;
            }
            notify("operation/running", new JObject { ["operationId"] = operation.OperationId });
            return true;
        }

        private Task<object?> Invoke(QueuedOperation item, ToolContext context)
        {
            var arguments = (JObject)(item.Operation.Arguments ?? new JObject()).DeepClone();
            try
            {
                if (!item.Resumes) return item.Tool.Tool.ExecuteAsync(arguments, context);
                var record = resumeRecords.Read(item.Operation.OperationId);
                return ((IResumableTool)item.Tool.Tool).ResumeAsync(arguments, record, context);
            }
            catch (Exception error)
            {
                // The tool threw instead of returning a failed task.
                return Task.FromException<object?>(error);
            }
        }

        private void Finish(Execution execution)
        {
            var operation = execution.Operation;
            execution.Sink.Close();
            var requested = cancellations.WasRequested(operation.OperationId);
            cancellations.Leave(operation.OperationId);
            var outcome = OutcomeOf.Task(execution.Task, requested, operation.StartedAt, clock);
            var endedIn = standing();
            if (execution.Context.ReloadAnnounced) endedIn["reloadAnnounced"] = true;
            Settle(operation, outcome.In(endedIn));
            if (mainThread.IsCurrent) resumeRecords.Erase(operation.OperationId);
        }

        private void SaveResumeRecord(LedgerOperation operation, JToken record)
        {
            // An abandoned call must not overwrite the record of its successor.
            if (LedgerState.IsOpen(operation.State)) resumeRecords.Save(operation.OperationId, record);
        }

        private void Crashed(Exception error) => log.Warn("A thread of the background lane ended: " + error);

        private sealed class Execution
        {
            public Execution(LedgerOperation operation, ProgressSink sink, ToolContext context, Task<object?> task)
            {
                Operation = operation;
                Sink = sink;
                Context = context;
                Task = task;
            }

            public LedgerOperation Operation { get; }

            public ProgressSink Sink { get; }

            public ToolContext Context { get; }

            public Task<object?> Task { get; }
        }
    }
}
