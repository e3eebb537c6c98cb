using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>
/// A journal with every kind of entry, cut and flipped at every byte (in the short form: around each line's ends, and at
/// every seventh): opening finds a prefix of what was written, says when more than an unfinished line is gone, and keeps
/// what it cut.
/// </summary>
public sealed class JournalDamageTests : IDisposable
{
    private readonly TestFolder folder = new(inMemory: true);

    private readonly ManualClock clock = new();

    private readonly byte[] whole;

    /// <summary>Where each line begins, and the end of the file.</summary>
    private readonly List<int> starts = new() { 0 };

    /// <summary>What a ledger of the first so many lines says.</summary>
    private readonly List<JObject> prefixes = new();

    public JournalDamageTests()
    {
        using (var ledger = Open())
        {
            Story.WriteEveryKind(ledger);
        }

        OperationLedger.Open(new LedgerOptions(folder.Path) { CompactLines = 5 }, clock).Dispose();
        using (var ledger = Open())
        {
            foreach (var operation in ledger.Open())
            {
                ledger.End(operation, Sample.Interrupted());
            }

            ledger.StartSession("s3");
            ledger.TakeFence(new Fence(4, "m"), "store 2");
            ledger.Ended("x");
            ledger.Ended("y");
            ledger.Acknowledge(new[] { "x", "y" });
            ledger.Forget();
            ledger.Revoke("z");
            ledger.MarkNotStarted(ledger.Accepted("w", "h5"));
            ledger.Begun("v", "h5");
            ledger.Accepted("u", "h6");
        }

        whole = File.ReadAllBytes(folder.Journal);
        for (var at = 0; at < whole.Length; at++)
        {
            if (whole[at] == '\n')
            {
                starts.Add(at + 1);
            }
        }

        foreach (var end in starts.Skip(1))
        {
            using var ledger = OpenWith(whole.Take(end).ToArray());
            Assert.Empty(ledger.Notices);
            prefixes.Add(Story.Describe(ledger));
        }
    }

    public void Dispose() => folder.Dispose();

    /// <summary>From 0 to the last one.</summary>
    private IEnumerable<int> Places(int last) => Enumerable.Range(0, last + 1).Where(at =>
        LongForm.IsAsked || at % 7 == 0 || at == last || starts.Any(start => Math.Abs(start - at) <= 1));

    [Fact]
    public void Has_every_kind_of_entry()
    {
        var kinds = File.ReadAllLines(folder.Journal).Select(line => (string)JObject.Parse(line.Substring(9))["kind"]!);
        Assert.Equal(
            new[]
            {
                "accepted", "acknowledged", "ended", "fence", "forgotten", "not_started", "revoked", "running",
                "session", "snapshot",
            },
            kinds.Distinct().OrderBy(kind => kind, StringComparer.Ordinal));
    }

    [Trait(LongForm.Trait, LongForm.Exhaustive)]
    [Fact]
    public void Cut_at_every_byte_it_is_the_prefix_of_whole_lines()
    {
        foreach (var length in Places(whole.Length))
        {
            var lines = starts.Count(start => start > 0 && start <= length);
            using var ledger = OpenWith(whole.Take(length).ToArray());
            Expect(ledger, lines, sameId: lines > 0, $"cut at {length}");
            var cut = whole.Skip(starts[lines]).Take(length - starts[lines]).ToArray();
            ExpectKept(cut.Length == 0 ? null : cut);
        }
    }

    [Trait(LongForm.Trait, LongForm.Exhaustive)]
    [Fact]
    public void Flipped_at_every_byte_it_is_the_prefix_before_and_says_that_it_was_damaged()
    {
        foreach (var at in Places(whole.Length - 1))
        {
            foreach (var mask in new[] { (byte)(1 << (at % 8)), (byte)0xff })
            {
                var flipped = (byte[])whole.Clone();
                flipped[at] ^= mask;
                var lines = starts.Count(start => start > 0 && start <= at);
                using var ledger = OpenWith(flipped);

                // Without its line feed the last line looks like one that was never finished.
                var torn = at == whole.Length - 1;
                Expect(ledger, lines, sameId: torn, $"flipped at {at} with {mask:x2}");
                ExpectKept(flipped.Skip(starts[lines]).ToArray());
            }
        }
    }

    [Fact]
    public void After_a_cut_it_goes_on_and_is_whole_again()
    {
        foreach (var length in Enumerable.Range(0, whole.Length).Where(length => length % 97 == 0))
        {
            JObject before;
            using (var ledger = OpenWith(whole.Take(length).ToArray()))
            {
                ledger.StartSession("after");
                ledger.Begun("new", "h9");
                before = Story.Describe(ledger);
            }

            using var again = Open();
            Assert.Empty(again.Notices);
            Assert.Equal(before.ToString(), Story.Describe(again).ToString());
        }
    }

    [Fact]
    public void A_line_that_is_missing_or_there_twice_is_damage()
    {
        var text = File.ReadAllLines(folder.Journal).Select(line => line + "\n").ToList();
        foreach (var broken in new[]
        {
            text.Where((_, index) => index != 3),
            text.Take(4).Concat(text.Skip(3)),
            text.Take(3).Append(text[4]).Append(text[3]).Concat(text.Skip(5)),
        })
        {
            using var ledger = OpenWith(System.Text.Encoding.UTF8.GetBytes(string.Concat(broken)));
            Assert.NotEqual((string?)prefixes[0]["ledgerId"], ledger.LedgerId);
            Assert.NotEmpty(ledger.Notices);
        }
    }

    [Fact]
    public void At_most_a_few_cut_pieces_are_kept_and_removing_one_is_said()
    {
        for (var round = 0; round < 8; round++)
        {
            File.AppendAllText(folder.Journal, "torn " + round);
            using var ledger = Open();
            Assert.Equal(round < 5 ? 1 : 2, ledger.Notices.Count);
        }

        Assert.Equal(
            new[] { "torn 3", "torn 4", "torn 5", "torn 6", "torn 7" },
            Directory.GetFiles(folder.Path, "ledger.cut-*").Select(File.ReadAllText).OrderBy(text => text));
    }

    private void Expect(OperationLedger ledger, int lines, bool sameId, string what)
    {
        var actual = Story.Describe(ledger);
        if (lines > 0)
        {
            var expected = prefixes[lines - 1];
            Assert.True(sameId == ((string?)expected["ledgerId"] == ledger.LedgerId), what + ": the ledger's id");
            Assert.True((long)expected["ledgerSeq"]! + (sameId ? 0 : 1) == ledger.LedgerSeq, what + ": the seq");
            Assert.True(expected.Count == actual.Count);
            actual["ledgerId"] = expected["ledgerId"];
            actual["ledgerSeq"] = expected["ledgerSeq"];
            Assert.True(JToken.DeepEquals(expected, actual), $"{what}: expected {expected}, was {actual}");
        }
        else
        {
            Assert.Empty(ledger.Operations());
            Assert.Null(ledger.Fence);
            Assert.NotEqual((string?)prefixes[0]["ledgerId"], ledger.LedgerId);
            Assert.Equal(1, ledger.LedgerSeq);
        }

        var begun = prefixes[^1]["operations"]!.Where(op => op["startedAt"]!.Type != JTokenType.Null)
            .Select(op => (string)op["id"]!).Append("x").Append("old").ToHashSet();
        Assert.All(ledger.Operations().Where(op => op.StartedAt != null), op => Assert.Contains(op.OperationId, begun));
    }

    private void ExpectKept(byte[]? cut)
    {
        var kept = Directory.GetFiles(folder.Path, "ledger.cut-*");
        Assert.Equal(cut == null ? 0 : 1, kept.Length);
        if (cut != null)
        {
            Assert.Equal(cut, File.ReadAllBytes(kept[0]));
            File.Delete(kept[0]);
        }
    }

    private OperationLedger OpenWith(byte[] journal)
    {
        File.WriteAllBytes(folder.Journal, journal);
        return Open();
    }

    private OperationLedger Open() => OperationLedger.Open(
        new LedgerOptions(folder.Path) { ForgetAfterMs = 0, KeepOperations = 8 }, clock);
}
