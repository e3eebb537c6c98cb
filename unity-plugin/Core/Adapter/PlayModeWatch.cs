#nullable enable
using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>
    /// Waits for states of play mode, tick by tick, and gives up what Unity does not change any more. Main thread only; a wait
    /// ends within the tick that sees its state.
    /// </summary>
    public sealed class PlayModeWatch
    {
        /// <summary>How long Unity may take before it begins what it was asked for; an unfocused Editor ticks at 1 Hz.</summary>
        private const int QuietMs = 5000;

        private const int QuietTicks = 3;

        private readonly IClock clock;
        private readonly List<Wait> waits = new List<Wait>();

        public PlayModeWatch(IClock clock)
        {
            this.clock = clock;
        }

        public Task<bool> Begin(PlayModeState now, Func<PlayModeState, bool> isAsWanted)
        {
            if (isAsWanted(now)) return Task.FromResult(true);
            var wait = new Wait(isAsWanted, clock.ElapsedMs);
            waits.Add(wait);
            return wait.Done.Task;
        }

        /// <summary>A tick of the Editor.</summary>
        /// <param name="isBusy">It compiles or imports: what it was asked for waits for that.</param>
        public void Tick(PlayModeState now, bool isBusy)
        {
            foreach (var wait in waits.ToArray())
            {
                if (wait.IsAsWanted(now)) End(wait, true);
                else if (isBusy || now.IsChanging) wait.Quiet(clock.ElapsedMs);
                else if (++wait.QuietTicks >= QuietTicks && clock.ElapsedMs - wait.QuietSince >= QuietMs) End(wait, false);
            }
        }

        private void End(Wait wait, bool isAsWanted)
        {
            waits.Remove(wait);
            wait.Done.SetResult(isAsWanted);
        }

        private sealed class Wait
        {
            public Wait(Func<PlayModeState, bool> isAsWanted, long nowMs)
            {
                IsAsWanted = isAsWanted;
                QuietSince = nowMs;
            }

            public Func<PlayModeState, bool> IsAsWanted { get; }

            public TaskCompletionSource<bool> Done { get; } = new TaskCompletionSource<bool>();

            public long QuietSince { get; private set; }

            public int QuietTicks { get; set; }

            public void Quiet(long nowMs)
            {
                QuietSince = nowMs;
                QuietTicks = 0;
            }
        }
    }
}
