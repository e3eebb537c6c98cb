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
        Assert.Throws<LedgerUnavailableException>(() => ledger.Acknowledge(new[] { "done" }));
        Assert.Equal(LedgerState.Accepted, accepted.State);
        Assert.Null(ledger.Get("new"));
        Assert.Null(ledger.Fence);
        Assert.Null(done.AcknowledgedAt);
        Assert.NotNull(ledger.ResultOf(done));
        Assert.Equal(seq, ledger.LedgerSeq);

        // Said again, as the broker does.
        disk.Broken = false;
        clock.NowMs += 1000;
        ledger.Acknowledge(new[] { "done" });
        Assert.NotNull(done.AcknowledgedAt);
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

    [UnixTheory]
    [InlineData("deleted", false)]
    [InlineData("deleted", true)]
    [InlineData("deleted with its folder", false)]
    [InlineData("deleted with its folder", true)]
    [InlineData("replaced by a shorter one", false)]
    [InlineData("replaced by a shorter one", true)]
    [InlineData("emptied", false)]
    [InlineData("emptied", true)]
    [InlineData("cut", false)]
    [InlineData("cut", true)]
    public void A_journal_that_is_spoilt_while_it_is_used_is_written_anew_before_anything_begins(string how, bool byHeartbeat)
    {
        var ledger = Open();
        ledger.TakeFence(new Fence(3, "n"), "s");
        ledger.Ended("done");
        ledger.Begun("running");
        var accepted = ledger.Accepted("accepted");
        var seq = ledger.LedgerSeq;
        Spoil(how);
        if (byHeartbeat) ledger.Heal();
        else ledger.Begin(accepted);
        Assert.Null(ledger.Problem);
        Assert.True(ledger.LedgerSeq >= seq);
        var id = ledger.LedgerId;
        // The process dies: no more than what is on the disk is known.
        using var other = new TestFolder();
        File.Copy(folder.Journal, other.Journal);
        ledger.Dispose();
        using var again = OperationLedger.Open(new LedgerOptions(other.Path), clock);
        Assert.Equal(id, again.LedgerId);
        Assert.Equal(3, again.Fence!.Epoch);
        Assert.Equal(
            ["done completed", "running running", byHeartbeat ? "accepted accepted" : "accepted running"],
            again.Operations().Select(operation => operation.OperationId + " " + operation.State));
    }

    [UnixTheory]
    [InlineData("deleted")]
    [InlineData("replaced by its copy")]
    public void What_is_written_into_a_file_that_the_path_does_not_name_does_not_begin(string how)
    {
        using var ledger = Open();
        var accepted = ledger.Accepted("accepted");
        using (new FaultyDisk(folder.Path, (step, _, _) =>
        {
            if (step == DiskStep.Write) Spoil(how);
        }))
        {
            Assert.Contains("was deleted", Assert.Throws<LedgerUnavailableException>(() => ledger.Begin(accepted)).Message);
        }

        Assert.Equal(LedgerState.Accepted, accepted.State);
        ledger.Begin(accepted);
        Assert.Contains("running", File.ReadAllText(folder.Journal));
    }

    [UnixFact]
    public void A_folder_that_another_process_has_taken_meanwhile_is_left_to_it()
    {
        using var ledger = Open();
        var accepted = ledger.Accepted("accepted");
        Spoil("deleted with its folder");
        using (var child = ChildProcess.Start("ledger-hold", folder.Path))
        {
            Assert.Equal("held " + child.Id, child.Line());
            Assert.Throws<LedgerInUseException>(() => ledger.Begin(accepted));
            child.Kill();
        }

        clock.NowMs += 1000;
        ledger.Begin(accepted);
        using var late = ChildProcess.Start("ledger-open", folder.Path);
        Assert.Contains($"in use by process {Environment.ProcessId} ", late.Line());
    }

    [UnixFact]
    public void Where_it_cannot_be_written_anew_nothing_begins()
    {
        using var ledger = Open();
        var accepted = ledger.Accepted("accepted");
        Spoil("deleted with its folder");
        File.WriteAllText(folder.Path, "in the way");
        var refused = Assert.Throws<LedgerUnavailableException>(() => ledger.Begin(accepted));
        Assert.Contains(folder.Path, refused.Message);
        Assert.Equal(LedgerState.Accepted, accepted.State);
        File.Delete(folder.Path);
        clock.NowMs += 1000;
        ledger.Heal();
        Assert.Null(ledger.Problem);
        ledger.Begin(accepted);
        Assert.True(File.Exists(folder.Journal));
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

    private void Spoil(string how)
    {
        switch (how)
        {
            case "deleted":
                File.Delete(folder.Journal);
                break;
            case "deleted with its folder":
                Directory.Delete(folder.Path, true);
                break;
            case "replaced by its copy":
            case "replaced by a shorter one":
                var copy = folder.Journal + ".copy";
                File.Copy(folder.Journal, copy, true);
                if (how != "replaced by its copy") Cut(copy, new FileInfo(copy).Length - 10);
                File.Delete(folder.Journal);
                File.Move(copy, folder.Journal);
                break;
            default:
                Cut(folder.Journal, how == "emptied" ? 0 : 50);
                break;
        }
    }

    /// <summary>As truncate(1) does, which asks nobody for a lock.</summary>
    private static void Cut(string file, long length) =>
        System.Diagnostics.Process.Start("truncate", $"-s {length} \"{file}\"").WaitForExit();

    /// <summary>The process dies: it writes nothing any more.</summary>
    private void Lose(OperationLedger ledger)
    {
        disk.Broken = true;
        ledger.Dispose();
        disk.Broken = false;
    }

    private const string InUse = "A file that is open can neither be deleted nor cut there.";

    private sealed class UnixFactAttribute : FactAttribute
    {
        public UnixFactAttribute() => Skip = OperatingSystem.IsWindows() ? InUse : null;
    }

    private sealed class UnixTheoryAttribute : TheoryAttribute
    {
        public UnixTheoryAttribute() => Skip = OperatingSystem.IsWindows() ? InUse : null;
    }

    private OperationLedger Open(string? carried = null) =>
        OperationLedger.Open(new LedgerOptions(folder.Path) { Carried = carried }, clock);
}
