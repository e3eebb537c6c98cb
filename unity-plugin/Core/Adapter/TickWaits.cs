#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>Asks the conditions that tools wait for on every tick of the Editor. Main thread only.</summary>
    public sealed class TickWaits : ITicks
    {
        private readonly IClock clock;
        private readonly List<Wait> waits = new List<Wait>();

        public TickWaits(IClock clock)
        {
            this.clock = clock;
        }

        public Task<bool> WhenAsync(Func<bool> condition, long milliseconds, CancellationToken cancellation)
        {
            var wait = new Wait(condition, clock.ElapsedMs + milliseconds, cancellation);
            waits.Add(wait);
            return wait.Task;
        }

        public void Tick()
        {
            foreach (var wait in waits.ToArray()) wait.Look(clock.ElapsedMs);
            waits.RemoveAll(wait => wait.Task.IsCompleted);
        }

        private sealed class Wait
        {
            private readonly TaskCompletionSource<bool> done = new TaskCompletionSource<bool>();
            private readonly Func<bool> condition;
            private readonly long deadline;
            private readonly CancellationToken cancellation;

            public Wait(Func<bool> condition, long deadline, CancellationToken cancellation)
            {
                this.condition = condition;
                this.deadline = deadline;
                this.cancellation = cancellation;
            }

            public Task<bool> Task => done.Task;

            public void Look(long now)
            {
                if (done.Task.IsCompleted) return;
                try
                {
                    if (condition()) done.SetResult(true);
                    else if (cancellation.IsCancellationRequested) done.SetCanceled();
                    else if (now >= deadline) done.SetResult(false);
                }
                catch (Exception error)
                {
                    done.SetException(error);
                }
            }
        }
    }
}
