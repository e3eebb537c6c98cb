#nullable enable
using System;
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
    /// Any thread. Every member takes the <see cref="Gate"/> itself, except <see cref="LedgerSeq"/> and
    /// <see cref="Problem"/>. What writes throws LedgerUnavailableException when it is not on the disk, and has then
    /// changed nothing in memory; but an end is true without the disk: memory takes it. After a failed write the journal
    /// is not trusted until memory was written into a new one, as one snapshot: the next write tries that, and every
    /// <see cref="Heal"/>. What asks for an impossible step (a state that does not allow it) throws
    /// InvalidOperationException: a fault of the caller.
    /// </summary>
    public sealed partial class OperationLedger : IDisposable
    {
        /// <summary>A slow disk may hold the gate; a domain reload waits no longer than this for it.</summary>
        private const int CloseMs = 400;

        /// <summary>Between two attempts to write memory into a new journal.</summary>
        private const int HealMs = 1000;

        private readonly LedgerOptions options;

        private readonly IClock clock;

        private readonly LedgerFiles files;

        private readonly LedgerContent content;

        private readonly LedgerResults results;

        private long durableSeq;

        private long healAt = long.MinValue;

        private volatile bool closing;

        private OperationLedger(LedgerOptions options, IClock clock, LedgerFiles files)
        {
            this.options = options;
            this.clock = clock;
            this.files = files;
            content = files.Content;
            results = new LedgerResults(Gate, files.Results, options.LargeResultBytes);
            durableSeq = files.DurableSeq;
            LedgerId = content.LedgerId;
        }

        /// <summary>Lock it around several steps that must be one critical section (hello, submit).</summary>
        public object Gate { get; } = new object();

        internal string Folder => options.Folder;

        /// <summary>
        /// Opens or begins the ledger of a folder. Throws LedgerUnavailableException, with what to do, when it cannot
        /// be written; LedgerInUseException when it is another process's that still runs. Waits up to 100 ms for another
        /// to let go.
        /// </summary>
        public static OperationLedger Open(LedgerOptions options, IClock clock)
        {
            var ledger = new OperationLedger(options, clock, LedgerFiles.Open(options, clock));
            ledger.Heal();
            return ledger;
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
        /// the disk, in a file of its own, before the line that names it. What the disk refuses is in memory, also over a
        /// domain reload (a large result is not): the ledger of a later process then calls the operation interrupted, or its
        /// result lost.
        /// </summary>
        public void End(LedgerOperation operation, Outcome outcome)
        {
            lock (Gate)
            {
                var own = Own(operation);
                Demand(LedgerState.IsOpen(own.State) && LedgerState.HasEnded(outcome.Status), "It can not end.", own);
                var kept = results.Keep(own, outcome, out var stored);
                if (own.ReadOnly)
                {
                    LedgerContent.End(own, kept, stored);
                    return;
                }

                var ended = JournalEntry.Ended(own.OperationId, kept, stored);
                if (!TryRecord(ended, true)) content.Apply(Next(ended));
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
        /// Writes memory into a new journal if the one that is there is not trusted or not there any more, at most once a
        /// second; a failure is the <see cref="Problem"/>. For every heartbeat: it does not wait for the gate.
        /// </summary>
        public void Heal()
        {
            if (!Monitor.TryEnter(Gate)) return;
            try
            {
                files.Journal.Check();
                if (Problem != null) WriteAnew();
            }
            catch (LedgerUnavailableException)
            {
                // It is the problem by now.
            }
            finally
            {
                Monitor.Exit(Gate);
            }
        }

        /// <summary>
        /// Lets go of the folder. Waits at most 400 ms for a write that is under way; its thread then closes behind
        /// itself. What was known can still be read, nothing can be written any more.
        /// </summary>
        /// <returns>
        /// What the disk refused to the last, for <see cref="LedgerOptions.Carried"/> of the next script domain; null as a rule.
        /// </returns>
        public string? Close()
        {
            closing = true;
            if (!Monitor.TryEnter(Gate, CloseMs)) return null;
            try
            {
                healAt = long.MinValue;
                Heal();
                var carried = Problem == null || files.Journal.IsClosed
                    ? null
                    : LedgerFiles.Carry(content, LedgerSeq, clock.NowMs);
                files.Dispose();
                return carried;
            }
            finally
            {
                Monitor.Exit(Gate);
            }
        }

        /// <summary><see cref="Close"/> without a next script domain.</summary>
        public void Dispose() => Close();

        private LedgerOperation Own(LedgerOperation operation)
        {
            var own = content.Operations.Get(operation.OperationId);
            Demand(own != null, $"The ledger has no operation {operation.OperationId}.");
            return own!;
        }

        private JournalEntry Next(JournalEntry entry)
        {
            entry.Seq = content.Seq + 1;
            entry.At = clock.NowMs;
            return entry;
        }

        private bool TryRecord(JournalEntry entry, bool flush)
        {
            try
            {
                Record(entry, flush);
                return true;
            }
            catch (LedgerUnavailableException)
            {
                return false;
            }
        }

        /// <summary>First the line, then what it means: a refused line has changed nothing.</summary>
        private void Record(JournalEntry entry, bool flush)
        {
            try
            {
                files.Journal.Check();
                if (Problem != null) WriteAnew();
                files.Journal.Append(Next(entry), flush);
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

        /// <summary>Throws LedgerUnavailableException, also when it was tried a moment ago.</summary>
        private void WriteAnew()
        {
            if (clock.ElapsedMs < healAt) throw new LedgerUnavailableException(Problem!);
            healAt = clock.ElapsedMs + HealMs;
            files.Restore();
            results.PutAgain(content.Operations.InOrder);
            files.Journal.Replace(LedgerFiles.SnapshotOf(content, clock.NowMs));
            Interlocked.Exchange(ref durableSeq, content.Seq);
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
