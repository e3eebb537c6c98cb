using System;
using System.Runtime.CompilerServices;
using System.Threading;
using JobBroker.Bridge.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

public sealed class LedgerLockTests : IDisposable
{
    private readonly TestFolder folder = new();

    public void Dispose() => folder.Dispose();

    [Fact]
    public void Of_two_processes_one_has_the_folder_and_the_other_learns_who()
    {
        using var child = ChildProcess.Start("ledger-hold", folder.Path);
        Assert.Equal("held " + child.Id, child.Line());
        var refused = Assert.Throws<LedgerInUseException>(() => Open());
        Assert.Contains($"process {child.Id} ", refused.Message);
        Assert.Contains("close that one", refused.Message);
        Assert.Throws<LedgerInUseException>(() => Open());
        child.Kill();
        Open().Dispose();
    }

    [Fact]
    public void The_other_process_is_refused_too()
    {
        using var ledger = Open();
        using var child = ChildProcess.Start("ledger-open", folder.Path);
        var output = child.Line();
        Assert.StartsWith($"unavailable The ledger in {folder.Path} is in use", output);
        Assert.Contains($"process {Environment.ProcessId} ", output);
        ledger.Ended("it goes on");
    }

    [Fact]
    public void After_a_domain_reload_the_same_process_opens_it_again()
    {
        for (var generation = 0; generation < 3; generation++)
        {
            var ledger = Open();
            Assert.Throws<LedgerUnavailableException>(() => Open());
            ledger.Ended("op" + generation);
            ledger.Dispose();
            ledger.Dispose();
            Assert.Throws<LedgerUnavailableException>(() => ledger.Begin(ledger.Get("x") ?? Accepted(ledger)));
        }
    }

    [Fact]
    public void A_domain_that_never_closed_it_does_not_keep_it()
    {
        // On a thread of its own: a stack that is gone holds nothing, whatever else of it a collector takes for a reference.
        var domain = new Thread(OpenAndForget);
        domain.Start();
        domain.Join();
        Open().Dispose();
    }

    [Fact]
    public void During_a_domain_reload_it_is_no_other_processs()
    {
        Open().Dispose();
        using (var child = ChildProcess.Start("ledger-open", folder.Path))
        {
            Assert.Contains($"in use by process {Environment.ProcessId} ", child.Line());
        }

        var last = Open();
        last.Release();
        last.Dispose();
        using var next = ChildProcess.Start("ledger-open", folder.Path);
        Assert.StartsWith("opened", next.Line());
    }

    [Fact]
    public void An_owner_whose_id_another_process_has_by_now_is_no_owner()
    {
        Open().Dispose();
        var file = System.IO.Path.Combine(folder.Path, "ledger.owner");
        using var child = ChildProcess.Start("ledger-hold", System.IO.Path.Combine(folder.Path, "another"));
        Assert.Equal("held " + child.Id, child.Line());
        var lines = System.IO.File.ReadAllLines(file);
        var words = lines[1].Split(' ');
        System.IO.File.WriteAllLines(file, [lines[0], $"{child.Id} {words[1]} {words[2]}", lines[2]]);
        Open().Dispose();
    }

    [Fact]
    public void A_later_script_domain_of_the_process_finds_its_own_name_and_does_not_write_it_again()
    {
        Open().Dispose();
        var file = System.IO.Path.Combine(folder.Path, "ledger.owner");
        var lines = System.IO.File.ReadAllLines(file);
        System.IO.File.WriteAllLines(file, ["the first domain's", lines[1], lines[2]]);
        Open().Dispose();
        Assert.Equal("the first domain's", System.IO.File.ReadAllLines(file)[0]);
    }

    [Fact]
    public void The_copy_of_a_folder_has_no_owner()
    {
        Open().Dispose();
        var copy = System.IO.Directory.CreateDirectory(System.IO.Path.Combine(folder.Path, "copy")).FullName;
        foreach (var name in new[] { "ledger.log", "ledger.owner" })
        {
            System.IO.File.Copy(System.IO.Path.Combine(folder.Path, name), System.IO.Path.Combine(copy, name));
        }
        using var child = ChildProcess.Start("ledger-open", copy);
        Assert.StartsWith("opened", child.Line());
    }

    private static LedgerOperation Accepted(OperationLedger ledger) => ledger.Accepted("after the end");

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void OpenAndForget() => Open().Ended("op");

    private OperationLedger Open() => OperationLedger.Open(new LedgerOptions(folder.Path), new ManualClock());
}
