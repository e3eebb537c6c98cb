#nullable enable
using System.Collections.Generic;
using System.Threading;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Execution
{
    /// <summary>An accepted operation on its way to a lane.</summary>
    public sealed class QueuedOperation
    {
        public QueuedOperation(LedgerOperation operation, RegisteredTool tool, bool resumes)
        {
            Operation = operation;
            Tool = tool;
            Resumes = resumes;
        }

        public LedgerOperation Operation { get; }

        public RegisteredTool Tool { get; }

        /// <summary>True when it began before a domain reload and is resumed, not begun.</summary>
        public bool Resumes { get; }
    }

    /// <summary>The queues of the main lane (one at a time) and of the background lane. Any thread.</summary>
    public sealed class OperationQueue
    {
        private readonly object gate = new object();
        private readonly LinkedList<QueuedOperation> main = new LinkedList<QueuedOperation>();
        private readonly LinkedList<QueuedOperation> background = new LinkedList<QueuedOperation>();
        private bool closed;

        public int Count
        {
            get
            {
                lock (gate) return main.Count + background.Count;
            }
        }

        /// <summary>Appends an operation to its lane; one that resumes comes first.</summary>
        public void Add(QueuedOperation item)
        {
            lock (gate)
            {
                var lane = item.Tool.Lane == ToolLanes.Background ? background : main;
                if (item.Resumes) lane.AddFirst(item);
                else lane.AddLast(item);
                // Only threads of the background lane wait here, and one of them is enough for one operation.
                if (lane == background) Monitor.Pulse(gate);
            }
        }

        /// <summary>Takes an operation that has not begun out of its lane.</summary>
        public void Remove(string operationId)
        {
            lock (gate)
            {
                RemoveFrom(main, operationId);
                RemoveFrom(background, operationId);
            }
        }

        /// <summary>The next of the main lane, which stays there; null when none waits.</summary>
        public QueuedOperation? NextMain()
        {
            lock (gate) return main.First?.Value;
        }

        /// <summary>Takes the next of the main lane; false when that is another by now.</summary>
        public bool TakeMain(QueuedOperation next)
        {
            lock (gate)
            {
                if (main.First?.Value != next) return false;
                main.RemoveFirst();
                return true;
            }
        }

        /// <summary>Waits for the next of the background lane; null once the queue is closed.</summary>
        public QueuedOperation? TakeBackground()
        {
            lock (gate)
            {
                while (!closed && background.Count == 0) Monitor.Wait(gate);
                return closed ? null : TakeFirst(background);
            }
        }

        /// <summary>The queued operations in order, the main lane first.</summary>
        public IReadOnlyList<QueuedOperation> Snapshot()
        {
            lock (gate)
            {
                var all = new List<QueuedOperation>(main);
                all.AddRange(background);
                return all;
            }
        }

        /// <summary>Empties the queue, hands out nothing more, and wakes waiting threads.</summary>
        public void Close()
        {
            lock (gate)
            {
                closed = true;
                main.Clear();
                background.Clear();
                Monitor.PulseAll(gate);
            }
        }

        private static QueuedOperation? TakeFirst(LinkedList<QueuedOperation> lane)
        {
            var first = lane.First;
            if (first == null) return null;
            lane.RemoveFirst();
            return first.Value;
        }

        private static void RemoveFrom(LinkedList<QueuedOperation> lane, string operationId)
        {
            for (var node = lane.First; node != null; node = node.Next)
            {
                if (node.Value.Operation.OperationId != operationId) continue;
                lane.Remove(node);
                return;
            }
        }
    }
}
