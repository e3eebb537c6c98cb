using System;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

public sealed class ForgettingTests : IDisposable
{
    private readonly TestFolder folder = new(inMemory: true);

    private readonly ManualClock clock = new();

    public static TheoryData<string> Names() =>
        new(Golden.Cases("forgetting.json").Select(entry => (string)entry["name"]!));

    public void Dispose() => folder.Dispose();

    [Theory]
    [MemberData(nameof(Names))]
    public void Follows_the_golden_table(string name)
    {
        var entry = Golden.Cases("forgetting.json").Single(candidate => (string)candidate["name"]! == name);
        var content = new LedgerContent { ForgetHorizon = (long)entry["horizon"]! };
        foreach (var json in entry["operations"]!)
        {
            content.Operations.Enter(new LedgerOperation((string)json["operationId"]!)
            {
                Hash = (string?)json["hash"],
                AcceptedAt = (long?)json["acceptedAt"],
                State = (string)json["state"]!,
                AcknowledgedAt = (long?)json["acknowledgedAt"],
            });
        }

        var options = new LedgerOptions("nowhere")
        {
            ForgetAfterMs = (long)entry["forgetAfterMs"]!,
            KeepOperations = (int)entry["keepOperations"]!,
        };
        var forgotten = Forgetting.Of(content, (long)entry["now"]!, options);
        Assert.Equal(entry["forgotten"]!.Select(id => (string)id!), forgotten?.Ids ?? Array.Empty<string>());
        Assert.Equal((long)entry["horizonAfter"]!, forgotten?.Horizon ?? content.ForgetHorizon);
    }

    [Fact]
    public void The_latest_of_a_hash_leaves_behind_the_others_of_its_hash()
    {
        using var ledger = Open(new LedgerOptions(folder.Path) { ForgetAfterMs = 100, KeepOperations = 1 });
        foreach (var id in new[] { "a", "b", "c" })
        {
            ledger.Ended(id, acceptedAt: id[0]);
        }

        ledger.Begun("unrelated", "h2");
        ledger.Acknowledge(new[] { "a", "b", "unrelated", "unknown", "a" });
        ledger.Forget();
        Assert.Equal(4, ledger.Operations().Count);
        clock.NowMs += 100;
        ledger.Forget();
        Assert.Equal(new[] { "c", "unrelated" }, ledger.Operations().Select(operation => operation.OperationId));
        Assert.Equal('b' + 1, ledger.ForgetHorizon);
        Assert.NotNull(ledger.ResultOf(ledger.Get("c")!));

        ledger.Acknowledge(new[] { "c" });
        clock.NowMs += 100;
        ledger.Forget();
        Assert.Equal("unrelated", Assert.Single(ledger.Operations()).OperationId);
        Assert.Equal('c' + 1, ledger.ForgetHorizon);
        Assert.Null(ledger.LatestOfHash("h"));
    }

    [Fact]
    public void The_ledger_is_not_read_as_a_whole_for_every_acknowledgement()
    {
        using var ledger = Open(new LedgerOptions(folder.Path) { ForgetAfterMs = 10_000, KeepOperations = 0 });
        ledger.Ended("a");
        ledger.Acknowledge(new[] { "a" });
        clock.NowMs += 9_995;
        ledger.Forget();
        clock.NowMs += 5;
        ledger.Forget();
        Assert.Single(ledger.Operations());
        clock.NowMs += 5;
        ledger.Forget();
        Assert.Empty(ledger.Operations());
    }

    [Trait(LongForm.Trait, LongForm.Exhaustive)]
    [Fact]
    public void Two_thousand_hashes_later_it_is_back_at_its_first_size_and_RETIRED_protects_the_rest()
    {
        const int kept = 100;
        var options = new LedgerOptions(folder.Path)
        {
            ForgetAfterMs = 1000, KeepOperations = kept, CompactLines = 50, LargeResultBytes = 500,
        };
        Live(options, "a", kept, 1000);
        var first = Settled(options);
        Assert.Equal(kept, first.Entries);

        Live(options, "b", 2000, 2000);
        var then = Settled(options);
        Assert.Equal(kept, then.Entries);
        Assert.Equal(first.Files, then.Files);
        Assert.InRange(then.Bytes, first.Bytes - 100, first.Bytes + 100);

        using var ledger = Open(options);
        for (var i = 0; i < 2000; i++)
        {
            var admitted = Decide(ledger, Name("b", i), 2000);
            Assert.Equal(ledger.Get(Name("b", i)) == null ? "RETIRED" : "", admitted.CodeName);
        }

        Assert.Equal(AdmittedKind.Run, Decide(ledger, "new", 2001).Kind);
    }

    [Fact]
    public void Opening_adds_no_entry_to_what_the_session_before_wrote()
    {
        // A ledger that was put back must not grow up to the one that was seen.
        var options = new LedgerOptions(folder.Path) { ForgetAfterMs = 1000, KeepOperations = 0, CompactLines = 5 };
        long written;
        using (var ledger = Open(options))
        {
            ledger.StartSession("s1");
            ledger.Ended("a");
            ledger.Ended("b");
            ledger.Acknowledge(new[] { "a", "b" });
            ledger.Revoke("c");
            written = ledger.LedgerSeq;
        }

        clock.NowMs += 1000;
        using (var ledger = Open(options))
        {
            ledger.StartSession("s2");
            Assert.Equal(written, ledger.PreviousSession!.LedgerSeq);
            Assert.Equal("c", Assert.Single(ledger.Operations()).OperationId);
        }
    }

    private static string Name(string prefix, int index) => $"{prefix}-{index:0000}";

    private static Admitted Decide(OperationLedger ledger, string id, long acceptedAt)
    {
        var json = (JObject)Golden.Cases("admit.json")[0]["submit"]!.DeepClone();
        json["operationId"] = id;
        json["hash"] = "hash-of-" + id;
        json["argumentsHash"] = "a";
        json["acceptedAt"] = acceptedAt;
        json["epoch"] = 1;
        json["ownerNonce"] = "n";
        json["ledgerId"] = ledger.LedgerId;
        return Admission.Admit(new OpenToAll(ledger), Submit.Read(json, out _)!);
    }

    /// <summary>Every fourth has a large result.</summary>
    private void Live(LedgerOptions options, string prefix, int count, long acceptedAt)
    {
        using var ledger = Open(options);
        ledger.TakeFence(new Fence(1, "n"), "store");
        for (var i = 0; i < count; i++)
        {
            var id = Name(prefix, i);
            var text = new string('x', i % 4 == 0 ? 600 : 50);
            ledger.Ended(id, "hash-of-" + id, new JObject { ["text"] = text }, acceptedAt);
            ledger.Acknowledge(new[] { id });
        }
    }

    /// <summary>Its size after the retention and a compaction.</summary>
    private (int Entries, int Files, long Bytes) Settled(LedgerOptions options)
    {
        clock.NowMs += options.ForgetAfterMs;
        using var ledger = Open(options);
        return (
            ledger.Operations().Count,
            Directory.GetFiles(folder.Results).Length,
            new FileInfo(folder.Journal).Length);
    }

    private OperationLedger Open(LedgerOptions options) => OperationLedger.Open(options, clock);

    private sealed class OpenToAll(OperationLedger ledger) : IAdmitLedger
    {
        public string LedgerId => ledger.LedgerId;

        public Fence? Fence => ledger.Fence;

        public long ForgetHorizon => ledger.ForgetHorizon;

        public LedgerOperation? Get(string operationId) => ledger.Get(operationId);

        public LedgerOperation? LatestOfHash(string hash) => ledger.LatestOfHash(hash);

        public bool HasTool(string tool) => true;

        public bool IsReadOnly(string tool) => false;

        public string? SecurityRefusal(string tool, JObject arguments) => null;
    }
}
