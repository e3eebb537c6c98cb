using System;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>
/// A ledger of the simulator is read here, and one of the bridge by the simulator's tests. JOB_BROKER_WRITE_GOLDEN=1
/// writes the bridge's files anew.
/// </summary>
public sealed class SharedFormatTests : IDisposable
{
    private readonly TestFolder folder = new();

    public void Dispose() => folder.Dispose();

    [Fact]
    public void Reads_a_ledger_of_the_simulator_to_its_last_line()
    {
        File.Copy(Golden.PathOf("ledger-of-simulator.txt"), folder.Journal);
        using var ledger = Open(5000);
        Assert.Empty(ledger.Notices);
        Assert.Equal("85a136b8-81d9-4e8c-ad25-bbeb3a903f63", ledger.LedgerId);
        Assert.Equal(21, ledger.LedgerSeq);
        Assert.Equal((3, "nonce"), (ledger.Fence!.Epoch, ledger.Fence.OwnerNonce));
        Assert.Equal(("store", 1002), (ledger.BoundStore!.StoreId, ledger.BoundStore.Since));
        Assert.Equal("session-2", ledger.Session);
        Assert.Equal(("session-1", 17), (ledger.PreviousSession!.EditorSessionId, ledger.PreviousSession.LedgerSeq));
        Assert.Equal(501, ledger.ForgetHorizon);
        Assert.Equal(
            new[]
            {
                "completed: completed", "failed: failed", "revoked: revoked", "not started: not_started",
                "running: running", "accepted: accepted",
            },
            ledger.Operations().Select(operation => $"{operation.OperationId}: {operation.State}"));
        var result = ledger.ResultOf(ledger.Get("completed")!)!;
        // Newtonsoft makes U+FFFD of half a surrogate pair, whichever program wrote it.
        Assert.Equal("日本語 \u2028 😀 \ufffd", (string?)result["text"]);
        Assert.Equal(9007199254740991, (long)result["big"]!);
        var failed = ledger.Get("failed")!.Outcome!;
        Assert.Equal(("internal_error", "no", "at A\nat B"), (failed.ErrorType, failed.ErrorMessage, failed.Stack));
        Assert.Equal((1, 2), (failed.StartedAt, failed.EndedAt));
        var accepted = ledger.Get("accepted")!;
        Assert.Equal("2020-01-01T00:00:00Z", ((JValue)accepted.Arguments!["when"]!).Value);
        Assert.Equal(("h4", "execute-menu-item", "a1", 500), (
            accepted.Hash, accepted.Tool, accepted.ArgumentsHash, accepted.AcceptedAt));
        Assert.Equal("fp", (string?)accepted.Origin!["fingerprint"]);
        Assert.Equal("accepted", ledger.LatestOfHash("h4")!.OperationId);
        Assert.Equal(1020, ledger.Get("running")!.StartedAt);
        ledger.Begin(accepted);
    }

    [Theory]
    [InlineData("ledger-of-bridge.txt", 5000)]
    [InlineData("ledger-of-bridge-compacted.txt", 5)]
    public void Writes_what_the_simulators_tests_read(string name, int compactLines)
    {
        using (var ledger = Open(5000, keepOperations: 3))
        {
            Story.WriteEveryKind(ledger);
        }

        Open(compactLines).Dispose();
        if (Environment.GetEnvironmentVariable("JOB_BROKER_WRITE_GOLDEN") == "1")
        {
            File.Copy(folder.Journal, Path.Combine(Path.GetDirectoryName(Golden.PathOf("admit.json"))!, name), true);
        }

        Assert.Equal(WithoutId(File.ReadAllText(Golden.PathOf(name))), WithoutId(File.ReadAllText(folder.Journal)));
    }

    /// <summary>The ledger's id is random, and with it the checksum of its line.</summary>
    private static string WithoutId(string journal) =>
        Regex.Replace(journal, "^[0-9a-f]{8} (.*\"ledgerId\":\")[0-9a-f-]{36}", "$1", RegexOptions.Multiline);

    private OperationLedger Open(int compactLines, int keepOperations = 1000) => OperationLedger.Open(
        new LedgerOptions(folder.Path) { ForgetAfterMs = 0, KeepOperations = keepOperations, CompactLines = compactLines },
        new ManualClock());
}
