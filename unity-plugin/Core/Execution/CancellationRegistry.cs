#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;

namespace JobBroker.Bridge.Execution
{
    /// <summary>Cancellation of running calls. Any thread.</summary>
    public sealed class CancellationRegistry
    {
        private readonly Dictionary<string, Entry> running = new Dictionary<string, Entry>(StringComparer.Ordinal);

        /// <summary>Registers a call that begins or resumes; returns its token.</summary>
        /// <param name="resumable">True for a call that a domain reload does not end.</param>
        public CancellationToken Enter(string operationId, bool cancellable, bool resumable)
        {
            lock (running)
            {
                var entry = new Entry(cancellable, resumable);
                running[operationId] = entry;
                return entry.Source.Token;
            }
        }

        /// <summary>
        /// Requests cancellation on the calling thread; false when the call does not run or is not cancellable.
        /// </summary>
        public bool Request(string operationId)
        {
            Entry? entry;
            lock (running)
            {
                if (!running.TryGetValue(operationId, out entry) || !entry.Cancellable) return false;
                entry.Requested = true;
            }
            Cancel(entry);
            return true;
        }

        /// <summary>True when the cancellation of this call was requested.</summary>
        public bool WasRequested(string operationId)
        {
            lock (running) return running.TryGetValue(operationId, out var entry) && entry.Requested;
        }

        public void Leave(string operationId)
        {
            lock (running) running.Remove(operationId);
        }

        /// <summary>
        /// Cancels every call that ends with the script domain. A resumable call is not cancelled: otherwise a test run
        /// would be cancelled by the very reload that it survives.
        /// </summary>
        public void AbandonAll()
        {
            List<Entry> all;
            lock (running)
            {
                all = new List<Entry>(running.Values);
                running.Clear();
            }
            foreach (var entry in all)
            {
                if (!entry.Resumable) Cancel(entry);
            }
        }

        /// <summary>Ignores exceptions from the tool's own cancellation callbacks.</summary>
        private static void Cancel(Entry entry)
        {
            try
            {
                entry.Source.Cancel();
            }
            catch (AggregateException)
            {
            }
        }

        private sealed class Entry
        {
            public Entry(bool cancellable, bool resumable)
            {
                Cancellable = cancellable;
                Resumable = resumable;
            }

            public CancellationTokenSource Source { get; } = new CancellationTokenSource();

            public bool Cancellable { get; }

            public bool Resumable { get; }

            public bool Requested { get; set; }
        }
    }
}
