#nullable enable
using System;
using System.Diagnostics;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>The clock of this machine. Any thread.</summary>
    public sealed class SystemClock : IClock
    {
        private readonly Stopwatch elapsed = Stopwatch.StartNew();

        public long NowMs => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

        public long ElapsedMs => elapsed.ElapsedMilliseconds;
    }
}
