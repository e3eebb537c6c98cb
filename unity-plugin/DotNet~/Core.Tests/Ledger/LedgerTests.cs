using System;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

public sealed class LedgerTests : IDisposable
{
    private readonly TestFolder folder = new();

    private readonly ManualClock clock = new();

    public void Dispose() => folder.Dispose();

    [Fact]
    public void Reads_back_everything_that_was_written()
    {
        string ledgerId;
        long seq;
        using (var ledger = Open())
        {
            ledgerId = ledger.LedgerId;
            ledger.StartSession("s1");
            ledger.TakeFence(new Fence(3, "n"), "store");
            ledger.Ended("op", result: new JObject { ["when"] = "2020-01-01T00:00:00Z" });
            ledger.Revoke("never submitted");
            seq = ledger.LedgerSeq;
        }

        using var again = Open();
        Assert.Equal(ledgerId, again.LedgerId);
        Assert.Equal(seq, again.LedgerSeq);
        Assert.Equal((3, "n"), (again.Fence!.Epoch, again.Fence.OwnerNonce));
        Assert.Equal(("store", 1000), (again.BoundStore!.StoreId, again.BoundStore.Since));
        Assert.Equal("s1", again.Session);
        Assert.Null(again.PreviousSession);
        var operation = again.Get("op")!;
        Assert.Equal(LedgerState.Completed, operation.State);
        Assert.Equal(1000, operation.StartedAt);
        Assert.Equal("2020-01-01T00:00:00Z", ((JValue)again.ResultOf(operation)!["when"]!).Value);
        Assert.Equal("local", (string?)operation.Origin!["principal"]);
        Assert.Equal(LedgerState.Revoked, again.Get("never submitted")!.State);
        Assert.Same(operation, again.LatestOfHash("h"));
        again.StartSession("s2");
        Assert.Equal(("s1", seq), (again.PreviousSession!.EditorSessionId, again.PreviousSession.LedgerSeq));
        again.StartSession("s2");
        Assert.Equal(seq + 1, again.LedgerSeq);
        Assert.Empty(again.Notices);
    }

    [Fact]
    public void Running_is_entered_once_whatever_object_asks()
    {
        using var ledger = Open();
        var operation = ledger.Begun("op");
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(operation));
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(Sample.Operation("op")));
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(Sample.Operation("never accepted")));
        Assert.Throws<InvalidOperationException>(() => ledger.Accept(Sample.Operation("op")));
        Assert.Throws<InvalidOperationException>(() => ledger.MarkNotStarted(operation));
        Assert.Throws<InvalidOperationException>(() => ledger.Revoke("op"));
        ledger.End(operation, Sample.Interrupted());
        Assert.Throws<InvalidOperationException>(() => ledger.End(operation, Sample.Interrupted()));
        Assert.Throws<InvalidOperationException>(() => ledger.Accept(Sample.Operation("op")));
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(operation));
        ledger.Revoke("revoked");
        Assert.Throws<InvalidOperationException>(() => ledger.Accept(Sample.Operation("revoked")));
    }

    [Fact]
    public void Of_many_threads_one_begins()
    {
        using var ledger = Open();
        for (var round = 0; round < 50; round++)
        {
            var operation = ledger.Accepted("op" + round);
            var begun = 0;
            Parallel.For(0, 4, _ =>
            {
                try
                {
                    ledger.Begin(operation);
                    Interlocked.Increment(ref begun);
                }
                catch (InvalidOperationException)
                {
                    // Another thread was first.
                }
            });
            Assert.Equal(1, begun);
        }
    }

    [Fact]
    public void Not_started_may_be_accepted_and_begun_again()
    {
        using var ledger = Open();
        ledger.MarkNotStarted(ledger.Accepted("op"));
        ledger.Accepted("other");
        var again = ledger.Accepted("op");
        Assert.Equal(new[] { "other", "op" }, ledger.Open().Select(operation => operation.OperationId));
        Assert.Same(again, ledger.LatestOfHash("h"));
        ledger.Begin(again);
        Assert.Equal(LedgerState.Running, ledger.Get("op")!.State);
    }

    [Fact]
    public void A_revoked_latest_uncovers_the_one_before_it()
    {
        using var ledger = Open();
        ledger.Accepted("one");
        ledger.Accepted("two");
        Assert.Equal("two", ledger.LatestOfHash("h")!.OperationId);
        ledger.Revoke("two");
        Assert.Equal("one", ledger.LatestOfHash("h")!.OperationId);
        Assert.Null(ledger.LatestOfHash("another"));
    }

    [Fact]
    public void The_seq_counts_what_is_on_the_disk_and_does_not_wait_for_the_gate()
    {
        using var ledger = Open();
        Assert.Equal(1, ledger.LedgerSeq);
        var operation = ledger.Accepted("op");
        Assert.Equal(1, ledger.LedgerSeq);
        ledger.Begin(operation);
        Assert.Equal(3, ledger.LedgerSeq);
        lock (ledger.Gate)
        {
            var reader = new Thread(() => _ = ledger.LedgerSeq);
            reader.Start();
            Assert.True(reader.Join(TimeSpan.FromSeconds(30)), "it waited for the gate");
        }
    }

    [Fact]
    public void Reads_are_in_no_journal_and_no_chain()
    {
        using var ledger = Open();
        var before = File.ReadAllBytes(folder.Journal);
        var read = Sample.Operation("read", readOnly: true);
        ledger.Accept(read);
        Assert.Null(ledger.LatestOfHash("h"));
        ledger.Begin(read);
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(read));
        ledger.End(read, Outcome.Completed(JsonText.Of(new JObject()), 1, 2));
        Assert.Single(ledger.Unacknowledged());
        ledger.Acknowledge(new[] { "read" });
        Assert.Null(ledger.Get("read"));
        ledger.Accept(Sample.Operation("another", readOnly: true));
        ledger.DropReads();
        Assert.Empty(ledger.Operations());
        Assert.Equal(before, File.ReadAllBytes(folder.Journal));
    }

    [Fact]
    public void A_lower_fence_is_not_taken()
    {
        using var ledger = Open();
        ledger.TakeFence(new Fence(3, "n"), "store");
        Assert.Throws<InvalidOperationException>(() => ledger.TakeFence(new Fence(2, "n"), "store"));
        Assert.Throws<InvalidOperationException>(() => ledger.TakeFence(new Fence(3, "m"), "store"));
        ledger.TakeFence(new Fence(3, "n"), "another store");
        Assert.Equal("another store", ledger.BoundStore!.StoreId);
    }

    [Fact]
    public void A_long_journal_becomes_one_line_that_says_the_same()
    {
        JObject before;
        using (var ledger = Open())
        {
            Story.WriteEveryKind(ledger);
        }

        using (var ledger = Open())
        {
            before = Story.Describe(ledger);
        }

        using (Open(new LedgerOptions(folder.Path) { CompactLines = 5 }))
        {
            Assert.Single(File.ReadAllLines(folder.Journal));
        }

        using var again = Open();
        Assert.Equal(before.ToString(), Story.Describe(again).ToString());
        again.Begun("after it");
        again.Dispose();
        using var third = Open();
        Assert.Equal(LedgerState.Running, third.Get("after it")!.State);
        Assert.Empty(third.Notices);
    }

    [Fact]
    public void Deep_json_and_numbers_come_back_as_they_were()
    {
        var deep = (JToken)new JValue("end");
        for (var level = 0; level < 5000; level++)
        {
            deep = new JArray(deep);
        }

        var result = new JObject { ["deep"] = deep, ["big"] = 9007199254740993L, ["float"] = 1.0, ["null"] = null };
        using (var ledger = Open())
        {
            ledger.Ended("op", result: result);
        }

        using var again = Open();
        var read = again.ResultOf(again.Get("op")!)!;
        Assert.Equal(9007199254740993L, (long)read["big"]!);
        Assert.Equal(JTokenType.Float, read["float"]!.Type);
        Assert.Equal(JTokenType.Null, read["null"]!.Type);
        var level5000 = read["deep"]!;
        for (var level = 0; level < 5000; level++)
        {
            level5000 = level5000[0]!;
        }

        Assert.Equal("end", (string?)level5000);
    }

    [Fact]
    public void A_line_of_a_newer_version_is_not_passed_over()
    {
        Open().Dispose();
        // The checksum is zlib's.
        File.AppendAllText(folder.Journal, "42d62836 {\"seq\":2,\"at\":1,\"kind\":\"begun_twice\"}\n");
        var refused = Assert.Throws<LedgerUnavailableException>(() => Open());
        Assert.Contains("newer version", refused.Message);
        Assert.Contains("begun_twice", File.ReadAllText(folder.Journal));
    }

    private OperationLedger Open(LedgerOptions? options = null) =>
        OperationLedger.Open(
            options ?? new LedgerOptions(folder.Path) { ForgetAfterMs = 0, KeepOperations = 0 }, clock);
}
