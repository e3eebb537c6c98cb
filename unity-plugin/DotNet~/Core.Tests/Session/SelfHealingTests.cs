#nullable enable
using System;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>What goes wrong for a moment, and comes right without a click and without a reload.</summary>
public sealed class SelfHealingTests
{
    private readonly FixedClock clock = new();

    [Fact]
    public void A_lock_that_no_Editor_holds_is_tried_again_and_said_meanwhile()
    {
        using var state = new TestFolder();
        var ledger = Directory.CreateDirectory(Path.Combine(state.Path, "ledger")).FullName;
        var scanner = new FileStream(Path.Combine(ledger, "ledger.lock"), FileMode.Create, FileAccess.ReadWrite, FileShare.None);
        using var bridge = new RunningBridge(options => options.LedgerFolder = ledger, clock, listens: false);
        Assert.Contains("held by another program", bridge.Controller.Status().LastError);
        Assert.Contains("tried again every second", bridge.Controller.Status().LastError);
        scanner.Dispose();
        clock.ElapsedMs += 1000;
        bridge.Controller.Pump();
        Assert.True(bridge.Controller.IsRunning, bridge.Controller.Status().LastError);
        Assert.Null(bridge.Controller.Status().LastError);
    }

    [Fact]
    public void A_start_that_fails_half_way_is_no_session_of_its_own_and_leaves_nothing_for_the_next_attempt_but_the_file()
    {
        using var state = new TestFolder();
        using (var before = OperationLedger.Open(new LedgerOptions(state.Path), clock))
        {
            before.StartSession("before");
            before.Accepted("op");
        }
        var writes = 0;
        var disk = new FaultyDisk(state.Path, (step, path, _) =>
        {
            // The line of the session is written, that of what was not started is refused, and so is every other attempt.
            if (step == DiskStep.Write && ++writes > 1) throw new IOException(FaultyDisk.Full);
        });
        using var bridge = new RunningBridge(options => options.LedgerFolder = state.Path, clock, listens: false);
        disk.Dispose();
        using (var other = OperationLedger.Open(new LedgerOptions(state.Path), clock)) other.Ended("of another process");
        clock.ElapsedMs += 1000;
        bridge.Controller.Pump();
        Assert.True(bridge.Controller.IsRunning, bridge.Controller.Status().LastError);
        Assert.Equal("before", bridge.Controller.Ledger!.PreviousSession!.EditorSessionId);
        Assert.Equal(LedgerState.NotStarted, bridge.Controller.Ledger.Get("op")!.State);
        Assert.Equal(LedgerState.Completed, bridge.Controller.Ledger.Get("of another process")?.State);
    }

    [Fact]
    public void An_endpoint_file_that_was_removed_is_there_again()
    {
        using var bridge = new RunningBridge(options => options.HeartbeatMs = 5, clock);
        foreach (var file in bridge.EndpointFiles)
        {
            var before = File.ReadAllText(file);
            File.Delete(file);
            Wait.Until(() => File.Exists(file), file);
            Assert.Equal(before, File.ReadAllText(file));
        }
    }

    [Fact]
    public void A_ledger_whose_folder_was_removed_is_there_again()
    {
        if (OperatingSystem.IsWindows()) return;
        using var bridge = new RunningBridge(options => options.HeartbeatMs = 5, clock);
        var folder = bridge.Controller.Ledger!.Folder;
        var journal = Path.Combine(folder, "ledger.log");
        // In one step: the bridge may write into it at any moment.
        Directory.Move(folder, folder + ".gone");
        Wait.Until(() => File.Exists(journal), journal);
        Assert.Contains(bridge.Controller.Ledger!.LedgerId, File.ReadAllText(journal));
    }

    [Fact]
    public void A_full_disk_is_said_where_people_look_until_it_has_room_again()
    {
        using var bridge = new RunningBridge(options => options.HeartbeatMs = 5, clock);
        using var disk = new FaultyDisk(bridge.Options.StateFolder) { Broken = true };
        using var worker = bridge.Connect();
        var refused = (string)bridge.Enter(worker, "bridge/hello", RunningBridge.Hello())["error"]!["message"]!;
        Assert.Contains(FaultyDisk.Full, refused);
        Assert.Contains("Free space on that disk", refused);
        Assert.Contains(FaultyDisk.Full, bridge.Controller.Status().LastError);
        Wait.Until(() => bridge.Log.Lines.Contains(bridge.Controller.Status().LastError!), "the line in the log");

        disk.Broken = false;
        clock.ElapsedMs += 1000;
        Wait.Until(() => bridge.Controller.Status().LastError == null, "the heartbeat that heals");
        Wait.Until(() => bridge.Log.Lines.Contains("The ledger can be written again."), "the line in the log");
        bridge.Owner().Dispose();
    }
}
