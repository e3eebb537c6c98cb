#nullable enable
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>
    /// Holds the one connection that may submit: the worker admitted last, with the highest fence. Any thread.
    /// </summary>
    internal sealed class WorkerSeat
    {
        private readonly object gate = new object();
        private readonly IClock clock;
        private IPeer? holder;
        private bool log;
        private long emptySince;

        public WorkerSeat(IClock clock)
        {
            this.clock = clock;
            emptySince = clock.ElapsedMs;
        }

        /// <summary>The holder takes the Console's lines.</summary>
        public bool TakesLog
        {
            get
            {
                lock (gate) return holder != null && log;
            }
        }

        public bool IsHeld
        {
            get
            {
                lock (gate) return holder != null;
            }
        }

        /// <summary>Nobody has held it for so long, ms.</summary>
        public bool IsEmptyFor(int ms)
        {
            lock (gate) return holder == null && clock.ElapsedMs - emptySince >= ms;
        }

        /// <summary>Closes the connection that held the seat before.</summary>
        public void Take(IPeer peer, bool takesLog)
        {
            IPeer? before;
            lock (gate)
            {
                before = holder;
                holder = peer;
                log = takesLog;
            }
            if (before != null && before != peer) before.Close();
        }

        /// <summary>Closes the connection that holds the seat.</summary>
        public void Vacate()
        {
            IPeer? before;
            lock (gate)
            {
                before = holder;
                holder = null;
                emptySince = clock.ElapsedMs;
            }
            before?.Close();
        }

        public bool Holds(IPeer peer)
        {
            lock (gate) return holder == peer;
        }

        public void Leave(IPeer peer)
        {
            lock (gate)
            {
                if (holder != peer) return;
                holder = null;
                emptySince = clock.ElapsedMs;
            }
        }

        /// <summary>Notifies the holder. Dropped while the seat is empty: the next hello reports the same.</summary>
        public void Notify(string method, JObject parameters)
        {
            IPeer? peer;
            lock (gate) peer = holder;
            peer?.Notify(method, parameters);
        }
    }
}
