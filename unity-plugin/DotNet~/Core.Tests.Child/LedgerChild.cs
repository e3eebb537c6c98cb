using System;
using System.IO;
using System.Linq;
using System.Threading;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Child;

/// <summary>What a ledger's process does until something happens to it.</summary>
internal static class LedgerChild
{
    /// <summary>Writes for ever; says each line once it is written: what was done, to whom, the ledger's seq.</summary>
    public static void Append(string folder)
    {
        var random = new Random();
        using var ledger = OperationLedger.Open(Small(folder), new WallClock());
        ledger.StartSession(Guid.NewGuid().ToString());
        Recover(ledger);
        while (true)
        {
            var operation = NewOperation(random.Next(5));
            Print("accepting", operation.OperationId);
            ledger.Accept(operation);
            Print("accepted", operation.OperationId);
            if (random.Next(4) == 0)
            {
                ledger.Revoke(operation.OperationId);
                Print("revoked", operation.OperationId, ledger.LedgerSeq);
                continue;
            }

            ledger.Begin(operation);
            Print("running", operation.OperationId, ledger.LedgerSeq);
            ledger.End(operation, Outcome.Completed(JsonText.Of(Result(operation.OperationId, random.Next(1500))), 1, 2));
            Print("completed", operation.OperationId, ledger.LedgerSeq);
        }
    }

    /// <summary>Has the folder until it is killed.</summary>
    public static void Hold(string folder)
    {
        using var ledger = OperationLedger.Open(new LedgerOptions(folder), new WallClock());
        Print("held", Environment.ProcessId);
        Thread.Sleep(Timeout.Infinite);
    }

    /// <summary>Opens the folder once and says how that went.</summary>
    public static void OpenOnce(string folder)
    {
        try
        {
            using var ledger = OperationLedger.Open(new LedgerOptions(folder), new WallClock());
            Print("opened", ledger.LedgerId);
        }
        catch (LedgerUnavailableException error)
        {
            Print("unavailable", error.Message);
        }
    }

    /// <summary>
    /// Begins operations until the disk refuses, then tries to begin more; with a ballast file to remove it makes room
    /// and tries again with the same ledger, a second later.
    /// </summary>
    public static void Fill(string folder, string? ballast)
    {
        var clock = new WallClock();
        var ledger = OperationLedger.Open(Small(folder), clock);
        ledger.StartSession("filler");
        try
        {
            // Far more than fits: a ledger that refuses nothing must fail the test, not hold it up.
            for (var number = 0; number < 5000; number++)
            {
                var operation = NewOperation(0);
                ledger.Accept(operation);
                ledger.Begin(operation);
                Print("invoked", operation.OperationId);
                ledger.End(operation, Outcome.Completed(JsonText.Of(Result(operation.OperationId, 400)), 1, 2));
                Print("completed", operation.OperationId);
            }
        }
        catch (LedgerUnavailableException error)
        {
            Print("refused", error.Message);
        }

        TryMore(ledger);
        var completed = ledger.Operations().Where(operation => operation.State == LedgerState.Completed);
        Print("readable", completed.Count(operation => ledger.ResultOf(operation) != null));
        if (ballast != null)
        {
            File.Delete(ballast);
            clock.LaterMs = 1000;
            TryMore(ledger);
        }

        ledger.Dispose();
        Print("done");
    }

    private static void TryMore(OperationLedger ledger)
    {
        var begun = 0;
        for (var i = 0; i < 20; i++)
        {
            try
            {
                var operation = NewOperation(1);
                ledger.Accept(operation);
                ledger.Begin(operation);
                Print("invoked", operation.OperationId);
                begun++;
            }
            catch (LedgerUnavailableException)
            {
                // Counted by its absence.
            }
        }

        Print("more", begun);
    }

    private static LedgerOptions Small(string folder) =>
        new(folder) { CompactLines = 200, LargeResultBytes = 1000, KeepOperations = 1_000_000 };

    private static void Recover(OperationLedger ledger)
    {
        foreach (var operation in ledger.Open())
        {
            if (operation.State == LedgerState.Accepted)
            {
                ledger.MarkNotStarted(operation);
                Print("not_started", operation.OperationId, ledger.LedgerSeq);
            }
            else
            {
                var began = operation.StartedAt;
                ledger.End(operation, Outcome.Error(LedgerState.Interrupted, "editor_exit", "It began.", began, 2));
                Print("interrupted", operation.OperationId, ledger.LedgerSeq);
            }
        }
    }

    private static LedgerOperation NewOperation(int hash) => new(Guid.NewGuid().ToString())
    {
        Hash = "hash-" + hash,
        Tool = "work",
        Origin = new JObject { ["principal"] = "local" },
        Arguments = new JObject { ["Name"] = "a" },
        ArgumentsHash = "arguments",
        AcceptedAt = 1,
    };

    private static JObject Result(string operationId, int length) =>
        new() { ["id"] = operationId, ["text"] = new string('ä', length), ["length"] = length };

    private static void Print(params object[] words)
    {
        Console.Out.WriteLine(string.Join(" ", words));
        Console.Out.Flush();
    }

    private sealed class WallClock : IClock
    {
        public long NowMs => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

        public int LaterMs { get; set; }

        public long ElapsedMs => Environment.TickCount64 + LaterMs;
    }
}
