using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using Xunit;
using Xunit.Abstractions;

namespace JobBroker.Bridge.Tests.Ledger;

public sealed class KillTests(ITestOutputHelper output)
{
    /// <summary>Each starts a process. The long form kills more of them.</summary>
    private static readonly int Kills = LongForm.IsAsked ? 100 : 5;

    [Fact]
    public async Task Kills_during_appends_lose_nothing_that_was_said()
    {
        using var folder = new TestFolder();
        var reported = new Dictionary<string, string>();
        string? ledgerId = null;
        long seq = 0;
        var seed = Random.Shared.Next();
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        for (var round = 0; round < Kills; round++)
        {
            using var child = ChildProcess.Start("ledger-append", folder.Path);
            seq = Math.Max(seq, Take(child.Line(), reported));
            // However slow the machine is, each life says some lines before it ends.
            for (var lines = random.Next(4, 12); lines > 0; lines--) seq = Math.Max(seq, Take(child.Line(), reported));
            var rest = Task.Run(child.Rest);
            await Task.Delay(random.Next(20));
            child.Kill();
            foreach (var line in await rest)
            {
                seq = Math.Max(seq, Take(line, reported));
            }

            using var ledger = OperationLedger.Open(new LedgerOptions(folder.Path), new ManualClock());
            // The next life is another process.
            ledger.Release();
            ledgerId ??= ledger.LedgerId;
            Assert.Equal(ledgerId, ledger.LedgerId);
            Assert.True(ledger.LedgerSeq >= seq, $"{seq} was said to be on the disk, {ledger.LedgerSeq} is");
            Compare(ledger, reported);
        }

        output.WriteLine($"{reported.Count} operations, {seq} entries");
        Assert.True(reported.Count >= Kills, "each life said something of an operation");
    }

    /// <summary>Answers the seq that the line tells; the last line may be torn.</summary>
    private static long Take(string line, Dictionary<string, string> reported)
    {
        var words = line.Split(' ');
        if (words.Length < 2 || words[1].Length != 36 || words[0] == "accepting")
        {
            return 0;
        }

        reported[words[1]] = words[0];
        return words.Length > 2 && long.TryParse(words[2], out var seq) && words[0] != "accepted" ? seq : 0;
    }

    /// <summary>What was said holds; only one more step may have been taken before the kill.</summary>
    private static void Compare(OperationLedger ledger, Dictionary<string, string> reported)
    {
        foreach (var (id, state) in reported.ToList())
        {
            var operation = ledger.Get(id);
            Assert.True(operation != null, $"{id} was {state} and is gone");
            if (operation!.State != state)
            {
                Assert.True(May(state, operation.State), $"{id} was {state} and is {operation.State}");
                reported[id] = operation.State;
            }

            if (operation.State == LedgerState.Completed)
            {
                var result = ledger.ResultOf(operation);
                Assert.Equal(id, (string?)result!["id"]);
                Assert.Equal((int)result["length"]!, ((string)result["text"]!).Length);
            }
        }
    }

    private static bool May(string from, string to) =>
        (from == LedgerState.Accepted
            && (to == LedgerState.Running || to == LedgerState.Revoked || to == LedgerState.NotStarted))
        || (from == LedgerState.Running && (to == LedgerState.Completed || to == LedgerState.Interrupted));
}
