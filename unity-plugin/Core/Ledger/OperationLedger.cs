#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The Editor's memory of operations: a journal and the state that it adds up to.
    ///
    /// running, outcomes, revocations, fences, sessions, not_started and forgotten are on the disk before their method
    /// returns. accepted and acknowledged are with the operating system by then: the end of the process does not lose
    /// them, a power cut may, and means "never started" or "reported again".
    ///
    /// Any thread. Every member takes the <see cref="Gate"/> itself, except <see cref="LedgerSeq"/>. What writes throws
    /// LedgerUnavailableException when it is not on the disk, and has then changed nothing in memory; after a failed
    /// write everything that writes does, until the ledger is opened again. What asks for an impossible step (a state
    /// that does not allow it) throws InvalidOperationException: a fault of the caller.
    /// </summary>
    public sealed partial class OperationLedger : IDisposable
    {
        /// <summary>A slow disk may hold the gate; a domain reload waits no longer than this for it.</summary>
        private const int CloseMs = 400;

        private readonly LedgerOptions options;

        private readonly IClock clock;

        private readonly LedgerFiles files;

        private readonly LedgerContent content;

        private readonly LedgerResults results;

        private readonly HashSet<string> unwritten = new HashSet<string>();

        private long durableSeq;

        private volatile bool closing;

        private OperationLedger(LedgerOptions options, IClock clock, LedgerFiles files)
        {
            this.options = options;
            this.clock = clock;
            this.files = files;
            content = files.Content;
            results = new LedgerResults(Gate, files.Results, options.LargeResultBytes);
            durableSeq = content.Seq;
            LedgerId = content.LedgerId;
        }

        /// <summary>Lock it around several steps that must be one critical section (hello, submit).</summary>
        public object Gate { get; } = new object();

        /// <summary>Fault, for tests and the EditorHost: milliseconds that each flush takes longer.</summary>
        public int FlushDelayMs
        {
            get => files.Journal.FlushDelayMs;
            set => files.Journal.FlushDelayMs = value;
        }

        /// <summary>
        /// Opens or begins the ledger of a folder. Throws LedgerUnavailableException, with what to do, when it cannot
        /// be written; LedgerInUseException when it is another process's that still runs. Waits up to 100 ms for another
        /// to let go.
        /// </summary>
        public static OperationLedger Open(LedgerOptions options, IClock clock) =>
            new OperationLedger(options, clock, LedgerFiles.Open(options, clock));

        /// <summary>
        /// Fault, for tests and the EditorHost: every append is refused while true. Answers what was set before.
        /// </summary>
        public bool SetBroken(bool broken)
        {
            lock (Gate)
            {
                var before = files.Journal.Broken;
                files.Journal.Broken = broken;
                return before;
            }
        }

        /// <summary>
        /// A new Editor process begins. Not for a domain reload; the same session again changes nothing.
        /// </summary>
        public void StartSession(string editorSessionId)
        {
            lock (Gate)
            {
                if (content.Session != editorSessionId)
                {
                    Record(JournalEntry.Session(editorSessionId), true);
                }
            }
        }

        /// <summary>
        /// On the disk before hello is answered: a lower fence may never write again. Refuses a lower one.
        /// </summary>
        public void TakeFence(Fence fence, string storeId)
        {
            lock (Gate)
            {
                var highest = content.Fence;
                Demand(
                    highest == null || fence.Epoch > highest.Epoch
                        || (fence.Epoch == highest.Epoch && fence.OwnerNonce == highest.OwnerNonce),
                    $"Epoch {fence.Epoch} is not above {highest?.Epoch}.");
                Record(JournalEntry.Fence(fence, storeId), true);
            }
        }

        /// <summary>
        /// Takes the object over as the ledger's own. Only for an id that is unknown or not_started: ask
        /// <see cref="Admission.Admit"/> first, in the same critical section.
        /// </summary>
        public void Accept(LedgerOperation operation)
        {
            lock (Gate)
            {
                var known = content.Operations.Get(operation.OperationId);
                Demand(known == null || known.State == LedgerState.NotStarted, "It was accepted before.", known);
                Demand(operation.State == LedgerState.Accepted, "Only a new operation is accepted.", operation);
                if (operation.ReadOnly)
                {
                    content.Operations.Enter(operation);
                }
                else
                {
                    Record(JournalEntry.Accepted(operation), false);
                }
            }
        }

        /// <summary>
        /// The only way into running: once in an operation's life, and on the disk before it returns. Throws, and
        /// changes nothing, otherwise: then the tool must not be invoked. Main thread for tools of the main lane.
        /// </summary>
        public void Begin(LedgerOperation operation)
        {
            lock (Gate)
            {
                var own = Own(operation);
                Demand(own.State == LedgerState.Accepted && own.StartedAt == null, "It can not begin.", own);
                if (own.ReadOnly)
                {
                    own.StartedAt = clock.NowMs;
                    own.State = LedgerState.Running;
                }
                else
                {
                    Record(JournalEntry.Of(EntryKind.Running, own.OperationId), true);
                }
            }
        }

        /// <summary>
        /// Ends a running operation, or one that never began (cancelled while queued, refused). A large result is on
        /// the disk, in a file of its own, before the line that names it.
        /// </summary>
        public void End(LedgerOperation operation, Outcome outcome)
        {
            lock (Gate)
            {
                var own = Own(operation);
                Demand(LedgerState.IsOpen(own.State) && LedgerState.HasEnded(outcome.Status), "It can not end.", own);
                if (own.ReadOnly)
                {
                    LedgerContent.End(own, results.Keep(own, outcome, out var inMemory), inMemory);
                    return;
                }

                files.Journal.RefuseIfUnwritable();
                var kept = results.Keep(own, outcome, out var stored);
                Record(JournalEntry.Ended(own.OperationId, kept, stored), true);
            }
        }

        /// <summary>Keeps an outcome in memory only: for an accepted operation whose begin the disk refused.</summary>
        public void EndUnwritten(LedgerOperation operation, Outcome outcome)
        {
            lock (Gate)
            {
                var own = Own(operation);
                Demand(own.State == LedgerState.Accepted, "Only what never began may end unwritten.", own);
                LedgerContent.End(own, outcome, null);
                if (!own.ReadOnly)
                {
                    unwritten.Add(own.OperationId);
                }
            }
        }

        /// <summary>
        /// The id never runs here again; it need not have been seen before. Refuses what began or ended.
        /// </summary>
        public void Revoke(string operationId)
        {
            lock (Gate)
            {
                var known = content.Operations.Get(operationId);
                var revocable = known == null || known.State == LedgerState.Accepted
                    || known.State == LedgerState.NotStarted;
                Demand(revocable, "It can not be revoked.", known);
                Record(JournalEntry.Of(EntryKind.Revoked, operationId), true);
            }
        }

        /// <summary>
        /// It was accepted in an Editor process that is gone: the worker decides whether it still shall run.
        /// </summary>
        public void MarkNotStarted(LedgerOperation operation)
        {
            lock (Gate)
            {
                var own = Own(operation);
                Demand(own.State == LedgerState.Accepted && !own.ReadOnly, "It is not waiting to begin.", own);
                Record(JournalEntry.Of(EntryKind.NotStarted, own.OperationId), true);
            }
        }

        /// <summary>
        /// This process ends: <see cref="Dispose"/> leaves the folder to any other. Without it only this process may open it
        /// again, as after a domain reload.
        /// </summary>
        public void Release() => files.Release();

        /// <summary>
        /// Lets go of the folder. Waits at most 400 ms for a write that is under way; its thread then closes behind
        /// itself. What was known can still be read, nothing can be written any more.
        /// </summary>
        public void Dispose()
        {
            closing = true;
            files.Journal.EndDelay();
            if (Monitor.TryEnter(Gate, CloseMs))
            {
                try
                {
                    files.Dispose();
                }
                finally
                {
                    Monitor.Exit(Gate);
                }
            }
        }

        private LedgerOperation Own(LedgerOperation operation)
        {
            var own = content.Operations.Get(operation.OperationId);
            Demand(own != null, $"The ledger has no operation {operation.OperationId}.");
            return own!;
        }

        /// <summary>First the line, then what it means: a refused line has changed nothing.</summary>
        private void Record(JournalEntry entry, bool flush)
        {
            entry.Seq = content.Seq + 1;
            entry.At = clock.NowMs;
            try
            {
                files.Journal.Append(entry, flush);
            }
            finally
            {
                if (closing)
                {
                    files.Dispose();
                }
            }

            content.Apply(entry);
            if (flush)
            {
                Interlocked.Exchange(ref durableSeq, content.Seq);
            }
        }

        private static void Demand(bool condition, string otherwise, LedgerOperation? operation = null)
        {
            if (!condition)
            {
                throw new InvalidOperationException(
                    operation == null ? otherwise : $"{otherwise} {operation.OperationId} is {operation.State}.");
            }
        }
    }
}
