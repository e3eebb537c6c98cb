#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;

namespace JobBroker.Bridge.Execution
{
    /// <summary>The running calls that can be asked to stop. Any thread.</summary>
    public sealed class CancellationRegistry
    {
        private readonly Dictionary<string, Entry> running = new Dictionary<string, Entry>(StringComparer.Ordinal);

        /// <summary>Notes a call that begins or goes on; the token is its own.</summary>
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

        /// <summary>Asks a call to stop, on the calling thread; false when it does not run or cannot be asked.</summary>
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

        /// <summary>True when somebody asked this call to stop.</summary>
        public bool WasRequested(string operationId)
        {
            lock (running) return running.TryGetValue(operationId, out var entry) && entry.Requested;
        }

        public void Leave(string operationId)
        {
            lock (running) running.Remove(operationId);
        }

        /// <summary>
        /// The script domain ends: gives up every call that ends with it. What goes on in the next domain must not be
        /// told to stop, or a test run would be cancelled by the very reload that it survives.
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

        /// <summary>A tool's own callback may throw: that is the tool's fault, not the canceller's.</summary>
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
