using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Ledger;

internal sealed class ManualClock : IClock
{
    public long NowMs { get; set; } = 1000;

    public long ElapsedMs => NowMs;
}
