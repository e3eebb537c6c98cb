#nullable enable
using System;
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// Invokes tools with what a call has while it runs: progress, cancellation, a resume record. It journals nothing: only
    /// <see cref="Executor"/> uses it, behind <see cref="Beginning"/>.
    /// </summary>
    public sealed class ToolCalls
    {
        private readonly CancellationRegistry cancellations;
        private readonly ProgressBoard progress;
        private readonly ResumeRecords resumeRecords;
        private readonly IClock clock;
        private readonly IMainThread mainThread;
        private readonly Func<JObject> standing;

        /// <param name="standing">
        /// Returns the Editor's session, generation and asset counter for <see cref="Outcome.EndedIn"/>; any thread.
        /// </param>
        public ToolCalls(
            CancellationRegistry cancellations,
            ProgressBoard progress,
            ResumeRecords resumeRecords,
            IClock clock,
            IMainThread mainThread,
            Func<JObject> standing)
        {
            this.cancellations = cancellations;
            this.progress = progress;
            this.resumeRecords = resumeRecords;
            this.clock = clock;
            this.mainThread = mainThread;
            this.standing = standing;
        }

        /// <summary>Invokes the tool on the calling thread; never throws for it.</summary>
        internal ToolCall Start(QueuedOperation item)
        {
            var operation = item.Operation;
            var operationId = operation.OperationId;
            var cancellation = cancellations.Enter(operationId, item.Tool.Cancellable, item.Tool.Resumable);
            var sink = progress.Open(operationId);
            var context = new ToolContext(operationId, sink, cancellation, record => SaveResumeRecord(operation, record));
            return new ToolCall(operation, sink, context, Invoke(item, context));
        }

        /// <summary>The outcome of a call whose task is complete; nothing more is reported of it from here on.</summary>
        internal Outcome End(ToolCall call)
        {
            var operation = call.Operation;
            call.Sink.Close();
            var requested = cancellations.WasRequested(operation.OperationId);
            cancellations.Leave(operation.OperationId);
            var outcome = OutcomeOf.Task(call.Task, requested, operation.StartedAt, clock);
            var endedIn = standing();
            if (call.Context.ReloadAnnounced) endedIn["reloadAnnounced"] = true;
            return outcome.In(endedIn);
        }

        /// <summary>Erases what a settled call would have resumed from; only calls of the main thread have that.</summary>
        internal void Forget(ToolCall call)
        {
            if (mainThread.IsCurrent) resumeRecords.Erase(call.Operation.OperationId);
        }

        /// <summary>
        /// The script domain ends: asks running calls to end and waits for none. False when a thread did not end in time.
        /// </summary>
        internal bool Abandon(int milliseconds)
        {
            cancellations.AbandonAll();
            return progress.Stop(milliseconds);
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

        private void SaveResumeRecord(LedgerOperation operation, JToken record)
        {
            // An abandoned call must not overwrite the record of its successor.
            if (LedgerState.IsOpen(operation.State)) resumeRecords.Save(operation.OperationId, record);
        }
    }
}
