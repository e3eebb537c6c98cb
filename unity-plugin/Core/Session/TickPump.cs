#nullable enable
using System;
using System.Threading;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Session
{
    /// <summary>
    /// Keeps the Editor ticking while something is under way. In the background Unity parks its loop, and tests, compilation and play
    /// mode need many ticks. While nothing is under way, no tick is asked for. There is no thread where the Editor cannot be woken.
    /// </summary>
    internal sealed class TickPump : IMainThread
    {
        private const int IntervalMs = 20;

        /// <summary>
        /// How long ticks go on behind an operation, and from the start of a script domain: what follows (Unity compiles, reloads,
        /// enters play mode) shows only some ticks later.
        /// </summary>
        public const int AfterwardsMs = 3_000;

        private readonly object gate = new object();
        private readonly ManualResetEventSlim stopped = new ManualResetEventSlim();
        private readonly IMainThread mainThread;
        private readonly IClock clock;
        private readonly BridgeThread? thread;
        private bool isUnderWay;
        private bool isAsleep;
        private long until;

        public TickPump(IMainThread mainThread, IClock clock, Action<Exception> crashed)
        {
            this.mainThread = mainThread;
            this.clock = clock;
            until = clock.ElapsedMs + AfterwardsMs;
            if (mainThread.CanWake) thread = BridgeThread.Start("ticks", Run, crashed);
        }

        public bool IsCurrent => mainThread.IsCurrent;

        public bool CanWake => mainThread.CanWake;

        /// <summary>True while it asks for no ticks. Any thread.</summary>
        internal bool IsAsleep
        {
            get
            {
                lock (gate) return isAsleep;
            }
        }

        /// <summary>Asks for a tick at once, and for more until one finds nothing under way. Any thread.</summary>
        public void Wake()
        {
            Look(true);
            mainThread.Wake();
        }

        /// <summary>What a tick has found.</summary>
        public void Look(bool isUnderWay)
        {
            lock (gate)
            {
                // A tick may have lasted for minutes: the time counts from its end.
                if (isUnderWay || this.isUnderWay) until = clock.ElapsedMs + AfterwardsMs;
                this.isUnderWay = isUnderWay;
                if (isUnderWay) WakeThread();
            }
        }

        /// <summary>False when the thread did not end in time.</summary>
        public bool Stop(int milliseconds)
        {
            stopped.Set();
            lock (gate) WakeThread();
            return thread == null || thread.Join(milliseconds);
        }

        private void Run()
        {
            while (!stopped.Wait(IntervalMs))
            {
                mainThread.Wake();
                lock (gate)
                {
                    isAsleep = !isUnderWay && clock.ElapsedMs >= until && !stopped.IsSet;
                    while (isAsleep) Monitor.Wait(gate);
                }
            }
        }

        private void WakeThread()
        {
            isAsleep = false;
            Monitor.Pulse(gate);
        }
    }
}
