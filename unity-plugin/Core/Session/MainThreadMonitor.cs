#nullable enable
using System.Threading;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Session
{
    /// <summary>How long the main thread has not ticked. Any thread.</summary>
    internal sealed class MainThreadMonitor
    {
        private readonly IClock clock;
        private long tickedAt;

        public MainThreadMonitor(IClock clock)
        {
            this.clock = clock;
            Tick();
        }

        public long StallMs => clock.ElapsedMs - Interlocked.Read(ref tickedAt);

        /// <summary>Called at the beginning and at the end of every pump.</summary>
        public void Tick() => Interlocked.Exchange(ref tickedAt, clock.ElapsedMs);
    }
}
