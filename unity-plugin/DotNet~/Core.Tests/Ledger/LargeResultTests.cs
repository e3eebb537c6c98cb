using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

public sealed class LargeResultTests : IDisposable
{
    private static readonly JObject Large = new() { ["text"] = new string('ä', 100_000), ["end"] = "€" };

    private readonly TestFolder folder = new();

    private readonly ManualClock clock = new();

    public void Dispose() => folder.Dispose();

    [Fact]
    public void Lies_in_a_file_of_its_own_and_not_in_memory()
    {
        const string uuid = "0b0e7a52-5b9e-4f5a-9c39-1f6f4b1f2a3c";
        using (var ledger = Open())
        {
            var operation = ledger.Ended(uuid, result: Large);
            Assert.Null(operation.Outcome!.Result);
            Assert.True(JToken.DeepEquals(Large, ledger.ResultOf(operation)));
        }

        Assert.Equal(uuid + ".json", Path.GetFileName(Assert.Single(Directory.GetFiles(folder.Results))));
        Assert.True(new FileInfo(folder.Journal).Length < 2000);
        using var again = Open();
        var read = again.Get(uuid)!;
        Assert.Null(read.Outcome!.Result);
        Assert.True(JToken.DeepEquals(Large, again.ResultOf(read)));
    }

    [Theory]
    [InlineData(50_000)]
    [InlineData(10)]
    public void Parts_add_up_to_the_same_bytes_wherever_it_lies(int length)
    {
        using var ledger = Open();
        var result = new JObject { ["text"] = new string('ä', length) };
        var operation = ledger.Ended("op", result: result);
        var whole = Encoding.UTF8.GetBytes(result.ToString(Formatting.None));
        Assert.Equal(whole.Length, ledger.ResultBytes(operation));
        foreach (var size in new[] { 1, 7, 64 * 1024, int.MaxValue })
        {
            var parts = new List<byte>();
            while (size > 1 || parts.Count < 40)
            {
                var part = ledger.ResultPart(operation, parts.Count, size)!;
                if (part.Length == 0)
                {
                    break;
                }

                parts.AddRange(part);
            }

            Assert.Equal(whole.Take(parts.Count), parts);
            Assert.True(size == 1 || parts.Count == whole.Length);
        }

        Assert.Empty(ledger.ResultPart(operation, whole.Length, 10)!);
        Assert.Empty(ledger.ResultPart(operation, long.MaxValue, 10)!);
        Assert.Throws<ArgumentOutOfRangeException>(() => ledger.ResultPart(operation, -1, 10));
        var nothing = ledger.Begun("nothing", "h2");
        Assert.Null(ledger.ResultPart(nothing, 0, 10));
        Assert.Equal(0, ledger.ResultBytes(nothing));
    }

    [Theory]
    [InlineData("../../escape")]
    [InlineData("con")]
    [InlineData("a/b\\c:d*?\"<>|\0\n")]
    [InlineData("ÄÖÜ 日本語 👾")]
    [InlineData("")]
    public void Any_operation_id_makes_a_safe_name(string id)
    {
        using var ledger = Open();
        ledger.Ended(id, result: Large);
        ledger.Ended(id + "x", result: new JObject { ["other"] = Large });
        var names = Directory.GetFiles(folder.Results).Select(file => Path.GetFileName(file)!).ToList();
        Assert.Equal(2, names.Count);
        Assert.All(names, name => Assert.Matches("^x[0-9a-f]{64}\\.json$", name));
        Assert.True(JToken.DeepEquals(Large, ledger.ResultOf(ledger.Get(id)!)));
    }

    [Fact]
    public void Ids_that_differ_only_in_case_do_not_share_a_file()
    {
        using var ledger = Open();
        foreach (var id in new[] { "A", "a", "Á", "á" })
        {
            ledger.Ended(id, result: Large);
        }

        var names = Directory.GetFiles(folder.Results).Select(file => Path.GetFileName(file).ToLowerInvariant());
        Assert.Equal(4, names.Distinct().Count());
    }

    [Theory]
    [InlineData("missing")]
    [InlineData("shorter")]
    [InlineData("flipped")]
    public void A_lost_file_makes_the_outcome_honest(string damage)
    {
        using (var ledger = Open())
        {
            ledger.Ended("op", result: Large);
        }

        Damage(damage);
        using var again = Open();
        var operation = again.Get("op")!;
        Assert.Null(again.ResultOf(operation));
        Assert.Null(again.ResultPart(operation, 0, 10));
        Assert.Equal(LedgerState.Completed, operation.State);
        Assert.Equal(LedgerState.Completed, operation.Outcome!.Status);
        Assert.Equal("result_lost", operation.Outcome.ErrorType);
        Assert.Equal(0, again.ResultBytes(operation));
        Assert.Equal(damage == "flipped" ? 0 : 1, again.Notices.Count);
    }

    [Theory]
    [InlineData("missing")]
    [InlineData("shorter")]
    [InlineData("flipped")]
    public void A_file_that_is_lost_while_the_ledger_is_open_is_noticed_too(string damage)
    {
        using var ledger = Open();
        var operation = ledger.Ended("op", result: Large);
        Damage(damage);
        Assert.Null(ledger.ResultPart(operation, 0, 10));
        Assert.Equal("result_lost", operation.Outcome!.ErrorType);
    }

    [Fact]
    public void Is_removed_with_its_operation()
    {
        using var ledger = OperationLedger.Open(
            new LedgerOptions(folder.Path) { ForgetAfterMs = 0, KeepOperations = 0 }, clock);
        ledger.Ended("old", result: Large);
        ledger.Ended("latest", result: Large);
        ledger.Acknowledge(new[] { "old", "latest" });
        Assert.Equal(2, Directory.GetFiles(folder.Results).Length);
        ledger.Forget();
        Assert.Empty(Directory.GetFiles(folder.Results));
    }

    [Fact]
    public void Results_of_reads_leave_memory_too_and_go_with_them()
    {
        using (var ledger = Open())
        {
            var read = Sample.Operation("read", readOnly: true);
            ledger.Accept(read);
            ledger.Begin(read);
            ledger.End(read, Outcome.Completed(JsonText.Of(Large), 1, 2));
            Assert.Null(read.Outcome!.Result);
            Assert.True(JToken.DeepEquals(Large, ledger.ResultOf(read)));
            Assert.Single(Directory.GetFiles(folder.Results));
            ledger.Acknowledge(new[] { "read" });
            Assert.Empty(Directory.GetFiles(folder.Results));
            var another = Sample.Operation("another", readOnly: true);
            ledger.Accept(another);
            ledger.Begin(another);
            ledger.End(another, Outcome.Completed(JsonText.Of(Large), 1, 2));
        }

        Open().Dispose();
        Assert.Empty(Directory.GetFiles(folder.Results));
    }

    [Fact]
    public void Files_that_no_line_names_go_when_they_are_old_and_half_written_ones_at_once()
    {
        Open().Dispose();
        Directory.CreateDirectory(folder.Results);
        foreach (var name in new[] { "new.json", "old.json", "half.json.tmp" })
        {
            File.WriteAllText(Path.Combine(folder.Results, name), "{}");
        }

        File.SetLastWriteTimeUtc(Path.Combine(folder.Results, "old.json"), DateTime.UtcNow.AddDays(-2));
        Open().Dispose();
        Assert.Equal("new.json", Path.GetFileName(Assert.Single(Directory.GetFiles(folder.Results))));
    }

    [Fact]
    public void That_cannot_be_written_is_kept_in_memory_and_a_later_process_says_that_it_is_lost()
    {
        using (var ledger = Open())
        {
            File.WriteAllText(folder.Results, "a file where the folder should be");
            var operation = ledger.Ended("op", result: Large);
            Assert.Equal(LedgerState.Completed, operation.State);
            Assert.True(JToken.DeepEquals(Large, ledger.ResultOf(operation)));
            Assert.Equal(10, ledger.ResultPart(operation, 5, 10)!.Length);
            Assert.Null(ledger.Problem);
        }

        using var again = Open();
        Assert.Equal("result_lost", again.Get("op")!.Outcome!.ErrorType);
    }

    [Fact]
    public void That_the_disk_refused_with_its_line_gets_its_file_when_the_journal_heals()
    {
        using var disk = new FaultyDisk(folder.Path);
        using (var ledger = Open())
        {
            var operation = ledger.Begun("op");
            disk.Broken = true;
            ledger.End(operation, Outcome.Completed(JsonText.Of(Large), 1, 2));
            Assert.True(JToken.DeepEquals(Large, ledger.ResultOf(operation)));
            disk.Broken = false;
            ledger.Heal();
            Assert.Single(Directory.GetFiles(folder.Results));
        }

        using var again = Open();
        Assert.True(JToken.DeepEquals(Large, again.ResultOf(again.Get("op")!)));
    }

    private void Damage(string damage)
    {
        var file = Assert.Single(Directory.GetFiles(folder.Results));
        var bytes = File.ReadAllBytes(file);
        switch (damage)
        {
            case "missing":
                File.Delete(file);
                break;
            case "shorter":
                File.WriteAllBytes(file, bytes.Take(bytes.Length - 1).ToArray());
                break;
            default:
                bytes[bytes.Length / 2] ^= 1;
                File.WriteAllBytes(file, bytes);
                break;
        }
    }

    private OperationLedger Open() => OperationLedger.Open(new LedgerOptions(folder.Path), clock);
}
