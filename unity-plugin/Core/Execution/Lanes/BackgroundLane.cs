#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Execution
{
    /// <summary>The background lane: threads that end once its queue is closed.</summary>
    public sealed class BackgroundLane
    {
        private readonly OperationQueue queue;
        private readonly Executor executor;
        private readonly List<BridgeThread> threads = new List<BridgeThread>();

        public BackgroundLane(OperationQueue queue, Executor executor, Action<Exception> crashed)
        {
            this.queue = queue;
            this.executor = executor;
            for (var i = 0; i < ToolLanes.BackgroundWidth; i++) threads.Add(BridgeThread.Start("lane" + i, Run, crashed));
        }

        /// <summary>Waits for its threads; false when one did not end in time.</summary>
        public bool Join(int milliseconds)
        {
            var inTime = true;
            foreach (var thread in threads) inTime &= thread.Join(milliseconds);
            return inTime;
        }

        private void Run()
        {
            for (var next = queue.TakeBackground(); next != null; next = queue.TakeBackground())
            {
                var call = executor.Start(next);
                if (call == null) continue;
                // Only ping and get-logs run here, and neither waits for anything.
                ((IAsyncResult)call.Task).AsyncWaitHandle.WaitOne();
                executor.Finish(call);
            }
        }
    }
}
