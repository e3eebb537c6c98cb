#nullable enable
using System;
using System.Threading;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tests.Execution;
using JobBroker.Bridge.Tests.Framing;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Wire;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>Ticks are asked for while something is under way, and only then.</summary>
[Collection(Alone.Name)]
public sealed class TickPumpTests : IDisposable
{
    private readonly TestEngine.CountedWakes main = new();
    private readonly ManualClock clock = new();
    private readonly TickPump pump;
    private Exception? crash;

    public TickPumpTests() => pump = Pump(main);

    public void Dispose() => Assert.True(pump.Stop(20_000));

    [Fact]
    public void A_script_domain_that_starts_is_given_ticks_for_a_while()
    {
        AssertTicks();
        clock.NowMs += TickPump.AfterwardsMs;
        AssertSleeps();
    }

    [Fact]
    public void It_ticks_until_a_tick_finds_nothing_under_way_and_a_while_longer()
    {
        Sleep();
        pump.Wake();
        AssertTicks();
        clock.NowMs += 10 * TickPump.AfterwardsMs;
        AssertTicks();
        // The tick that found the end took all that time.
        pump.Look(false);
        clock.NowMs += TickPump.AfterwardsMs - 1;
        AssertTicks();
        clock.NowMs += 1;
        AssertSleeps();
    }

    [Fact]
    public void What_a_tick_finds_under_way_wakes_it_and_what_it_does_not_find_lets_it_sleep()
    {
        Sleep();
        pump.Look(false);
        Assert.True(pump.IsAsleep);
        pump.Look(true);
        AssertTicks();
    }

    [Fact]
    public void It_ends_while_it_ticks_and_while_it_sleeps()
    {
        AssertTicks();
        var before = ThreadsOfTheBridge.Ids();
        var busy = Pump(main);
        var asleep = Pump(main);
        asleep.Look(false);
        clock.NowMs += TickPump.AfterwardsMs;
        busy.Wake();
        Wait.Until(() => asleep.IsAsleep, "its sleep");
        Assert.True(busy.Stop(20_000));
        Assert.True(asleep.Stop(20_000));
        ThreadsOfTheBridge.AssertOnly(before);
    }

    [Fact]
    public void An_Editor_that_cannot_be_woken_has_no_thread_for_it()
    {
        AssertTicks();
        var before = ThreadsOfTheBridge.Ids();
        var none = Pump(new Deaf());
        none.Wake();
        ThreadsOfTheBridge.AssertOnly(before);
        Assert.True(none.Stop(0));
    }

    [Fact]
    public void An_Editor_that_throws_is_told_of_once_and_left_alone()
    {
        var failing = Pump(new Failing());
        Wait.Until(() => crash != null, "the fault");
        Assert.True(failing.Stop(20_000));
    }

    private TickPump Pump(IMainThread thread) => new(thread, clock, error => crash = error);

    private void Sleep()
    {
        clock.NowMs += TickPump.AfterwardsMs;
        AssertSleeps();
    }

    private void AssertTicks()
    {
        var enough = main.Wakes + 3;
        Wait.Until(() => main.Wakes >= enough, "ticks");
    }

    private void AssertSleeps() => Wait.Until(() => pump.IsAsleep, "its sleep");

    private sealed class Deaf : IMainThread
    {
        public bool IsCurrent => true;

        public bool CanWake => false;

        public void Wake()
        {
        }
    }

    private sealed class Failing : IMainThread
    {
        public bool IsCurrent => true;

        public bool CanWake => true;

        public void Wake() => throw new InvalidOperationException("It may only be called on the main thread.");
    }
}
