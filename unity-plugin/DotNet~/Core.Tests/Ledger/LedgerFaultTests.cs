#nullable enable
using System;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>A disk that refuses, and one that is slow: what began is told, nothing more begins, and it heals.</summary>
public sealed class LedgerFaultTests : IDisposable
{
    private readonly TestFolder folder = new();

    private readonly ManualClock clock = new();

    private readonly FaultyDisk disk;

    public LedgerFaultTests()
    {
        disk = new FaultyDisk(folder.Path);
    }

    public void Dispose()
    {
        disk.Dispose();
        folder.Dispose();
    }

    [Fact]
    public void What_the_disk_refuses_changes_nothing_and_is_not_begun()
    {
        using var ledger = Open();
        var done = ledger.Ended("done");
        var accepted = ledger.Accepted("accepted");
        var seq = ledger.LedgerSeq;
        disk.Broken = true;
        var refused = Assert.Throws<LedgerUnavailableException>(() => ledger.Begin(accepted));
        Assert.Contains(FaultyDisk.Full, refused.Message);
        Assert.Contains(folder.Path, refused.Message);
        Assert.Contains("goes on by itself", refused.Message);
        Assert.Equal(refused.Message, ledger.Problem);
        Assert.Throws<LedgerUnavailableException>(() => ledger.Accept(Sample.Operation("new")));
        Assert.Throws<LedgerUnavailableException>(() => ledger.Revoke("x"));
        Assert.Throws<LedgerUnavailableException>(() => ledger.StartSession("s"));
        Assert.Throws<LedgerUnavailableException>(() => ledger.TakeFence(new Fence(1, "n"), "s"));
        ledger.Acknowledge(new[] { "done" });
        Assert.Equal(LedgerState.Accepted, accepted.State);
        Assert.Null(ledger.Get("new"));
        Assert.Null(ledger.Fence);
        Assert.Null(done.AcknowledgedAt);
        Assert.NotNull(ledger.ResultOf(done));
        Assert.Equal(seq, ledger.LedgerSeq);
    }

    [Fact]
    public void An_end_that_the_disk_refuses_is_in_memory_above_the_durable_seq_and_on_the_disk_once_it_heals()
    {
        var ledger = Open();
        var running = ledger.Begun("running");
        var accepted = ledger.Accepted("accepted");
        var seq = ledger.LedgerSeq;
        disk.Broken = true;
        ledger.End(running, Outcome.Completed(JsonText.Of("done"), 1, 2));
        ledger.End(accepted, Outcome.Error(LedgerState.Failed, "ledger_unavailable", "Not invoked.", null, 5));
        Assert.Equal("done", (string?)ledger.ResultOf(running));
        Assert.Equal(["running", "accepted"], ledger.Unacknowledged().Select(operation => operation.OperationId));
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(accepted));
        Assert.Equal(seq, ledger.LedgerSeq);

        disk.Broken = false;
        clock.NowMs += 1000;
        ledger.Heal();
        Assert.Null(ledger.Problem);
        Assert.True(ledger.LedgerSeq > seq);
        ledger.Begun("more");
        Lose(ledger);
        using var again = Open();
        Assert.Equal(
            ["running completed", "accepted failed", "more running"],
            again.Operations().Select(operation => operation.OperationId + " " + operation.State));
    }

    [Fact]
    public void What_never_healed_is_as_the_disk_has_it_for_a_later_process()
    {
        var ledger = Open();
        ledger.Begun("running");
        ledger.Accepted("cancelled");
        disk.Broken = true;
        ledger.End(ledger.Get("running")!, Outcome.Completed(JsonText.Of("done"), 1, 2));
        ledger.End(ledger.Get("cancelled")!, Outcome.Error(LedgerState.Cancelled, "cancelled", "Early.", null, 5));
        Lose(ledger);
        using var again = Open();
        Assert.Equal(LedgerState.Running, again.Get("running")!.State);
        Assert.Equal(LedgerState.Accepted, again.Get("cancelled")!.State);
    }

    [Fact]
    public void The_next_script_domain_knows_what_the_disk_refused_and_a_refused_line_that_is_there_does_not_count()
    {
        var ledger = Open();
        ledger.Begun("running");
        ledger.Accepted("cancelled");
        disk.Broken = true;
        ledger.End(ledger.Get("running")!, Outcome.Completed(JsonText.Of("done"), 1, 2));
        ledger.End(ledger.Get("cancelled")!, Outcome.Error(LedgerState.Cancelled, "cancelled", "Early.", null, 5));
        var seq = ledger.LedgerSeq;
        var carried = ledger.Close();
        disk.Broken = false;
        using (var other = Open()) other.Accepted("told that it was refused");

        using var next = Open(carried);
        Assert.Equal(
            ["running completed", "cancelled cancelled"],
            next.Operations().Select(operation => operation.OperationId + " " + operation.State));
        Assert.Equal("done", (string?)next.ResultOf(next.Get("running")!));
        Assert.Null(next.Problem);
        Assert.True(next.LedgerSeq > seq);
        Assert.Null(next.Close());
    }

    [Fact]
    public void Carried_over_while_the_disk_still_refuses_it_counts_nothing_as_durable_that_is_not()
    {
        var ledger = Open();
        ledger.Begun("running");
        var seq = ledger.LedgerSeq;
        using var full = new FaultyDisk(folder.Path, DiskStep.Write) { Broken = true };
        ledger.End(ledger.Get("running")!, Outcome.Completed(JsonText.Of("done"), 1, 2));
        using var next = Open(ledger.Close());
        Assert.Equal(LedgerState.Completed, next.Get("running")!.State);
        Assert.Equal(seq, next.LedgerSeq);
        Assert.Contains(FaultyDisk.Full, next.Problem);
    }

    [Fact]
    public void It_tries_to_heal_once_a_second_and_no_more()
    {
        using var ledger = Open();
        var attempts = 0;
        using var full = new FaultyDisk(folder.Path, (step, path, _) =>
        {
            if (step == DiskStep.Open) attempts++;
            throw new IOException(FaultyDisk.Full);
        });
        for (var write = 0; write < 5; write++)
        {
            Assert.Throws<LedgerUnavailableException>(() => ledger.Revoke("x"));
            ledger.Heal();
        }

        Assert.Equal(1, attempts);
        clock.NowMs += 999;
        ledger.Heal();
        Assert.Equal(1, attempts);
        clock.NowMs += 1;
        ledger.Heal();
        Assert.Equal(2, attempts);
    }

    [Fact]
    public async Task A_slow_disk_neither_hides_the_seq_nor_holds_up_the_end()
    {
        var ledger = Open();
        var operation = ledger.Accepted("op");
        using var released = new ManualResetEventSlim();
        using var slow = new FaultyDisk(folder.Path, (step, _, _) =>
        {
            if (step == DiskStep.Flush) released.Wait();
        });
        var began = Task.Run(() => ledger.Begin(operation));
        while (Monitor.TryEnter(ledger.Gate))
        {
            Monitor.Exit(ledger.Gate);
            await Task.Yield();
        }

        Assert.Equal(1, ledger.LedgerSeq);
        ledger.Heal();
        ledger.Dispose();
        Assert.False(began.IsCompleted);
        released.Set();
        await began;
        using var again = Open();
        Assert.Equal(LedgerState.Running, again.Get("op")!.State);
    }

    /// <summary>The process dies: it writes nothing any more.</summary>
    private void Lose(OperationLedger ledger)
    {
        disk.Broken = true;
        ledger.Dispose();
        disk.Broken = false;
    }

    private OperationLedger Open(string? carried = null) =>
        OperationLedger.Open(new LedgerOptions(folder.Path) { Carried = carried }, clock);
}
