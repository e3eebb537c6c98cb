using System;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Tests.Tools.InMemory;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

public sealed class TickWaitsTests
{
    private readonly FixedClock clock = new();

    [Fact]
    public async Task A_wait_ends_with_its_condition_its_time_or_its_caller()
    {
        var waits = new TickWaits(clock);
        var isSo = false;
        using var given = new CancellationTokenSource();
        var met = waits.WhenAsync(() => isSo, 1000, default);
        var late = waits.WhenAsync(() => false, 1000, default);
        var left = waits.WhenAsync(() => false, 1000, given.Token);
        var broken = waits.WhenAsync(() => throw new InvalidOperationException("gone"), 1000, default);
        waits.Tick();
        Assert.False(met.IsCompleted || late.IsCompleted || left.IsCompleted);
        Assert.Equal("gone", (await Assert.ThrowsAsync<InvalidOperationException>(() => broken)).Message);
        isSo = true;
        given.Cancel();
        clock.ElapsedMs = 1000;
        waits.Tick();
        Assert.True(await met);
        Assert.False(await late);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => left);
    }

    [Fact]
    public void Nothing_is_asked_for_behind_its_end()
    {
        var waits = new TickWaits(clock);
        var asked = 0;
        var wait = waits.WhenAsync(() => ++asked == 2, 1000, default);
        for (var tick = 0; tick < 5; tick++) waits.Tick();
        Assert.True(wait.IsCompleted);
        Assert.Equal(2, asked);
    }
}
