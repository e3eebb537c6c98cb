using System;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>The faults that may be asked for: a disk that refuses, and one that is slow.</summary>
public sealed class LedgerFaultTests : IDisposable
{
    private readonly TestFolder folder = new();

    public void Dispose() => folder.Dispose();

    [Fact]
    public void What_the_disk_refuses_changes_nothing_and_is_not_begun()
    {
        using var ledger = Open();
        var done = ledger.Ended("done");
        var running = ledger.Begun("running");
        var accepted = ledger.Accepted("accepted");
        var seq = ledger.LedgerSeq;
        Assert.False(ledger.SetBroken(true));
        Assert.Throws<LedgerUnavailableException>(() => ledger.Begin(accepted));
        Assert.Throws<LedgerUnavailableException>(() => ledger.Accept(Sample.Operation("new")));
        Assert.Throws<LedgerUnavailableException>(() => ledger.End(running, Sample.Interrupted()));
        Assert.Throws<LedgerUnavailableException>(() => ledger.Revoke("x"));
        Assert.Throws<LedgerUnavailableException>(() => ledger.StartSession("s"));
        Assert.Throws<LedgerUnavailableException>(() => ledger.TakeFence(new Fence(1, "n"), "s"));
        Assert.Throws<LedgerUnavailableException>(() => ledger.Acknowledge(new[] { "done" }));
        Assert.Equal(LedgerState.Accepted, accepted.State);
        Assert.Null(ledger.Get("new"));
        Assert.Equal(LedgerState.Running, running.State);
        Assert.Null(ledger.Fence);
        Assert.Null(done.AcknowledgedAt);
        Assert.NotNull(ledger.ResultOf(done));
        Assert.Equal(seq, ledger.LedgerSeq);

        var refused = Outcome.Error(LedgerState.Failed, "ledger_unavailable", "Not invoked.", null, 5);
        ledger.EndUnwritten(accepted, refused);
        Assert.Equal("accepted", Assert.Single(ledger.EndedUnwritten()).OperationId);
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(accepted));
        Assert.True(ledger.SetBroken(false));
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(accepted));

        // An acknowledgement never stands in the journal without the outcome that it is of.
        ledger.Acknowledge(new[] { "accepted" });
        Assert.Empty(ledger.EndedUnwritten());
        ledger.Dispose();
        using var again = Open();
        Assert.Equal(LedgerState.Failed, again.Get("accepted")!.State);
        Assert.NotNull(again.Get("accepted")!.AcknowledgedAt);
        Assert.Equal(LedgerState.Running, again.Get("running")!.State);
    }

    [Fact]
    public async Task A_slow_disk_neither_hides_the_seq_nor_holds_up_the_end()
    {
        var ledger = Open();
        var operation = ledger.Accepted("op");
        ledger.FlushDelayMs = 60_000;
        var began = Task.Run(() => ledger.Begin(operation));
        while (Monitor.TryEnter(ledger.Gate))
        {
            Monitor.Exit(ledger.Gate);
            await Task.Yield();
        }

        Assert.Equal(1, ledger.LedgerSeq);
        var watch = System.Diagnostics.Stopwatch.StartNew();
        ledger.Dispose();
        await began;
        Assert.True(watch.ElapsedMilliseconds < 30_000, "it waited for the slow disk");
        using var again = Open();
        Assert.Equal(LedgerState.Running, again.Get("op")!.State);
    }

    private OperationLedger Open() => OperationLedger.Open(new LedgerOptions(folder.Path), new ManualClock());
}
