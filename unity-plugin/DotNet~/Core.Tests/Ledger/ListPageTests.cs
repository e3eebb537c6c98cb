using System.Linq;
using JobBroker.Bridge.Api;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

public sealed class ListPageTests
{
    public static TheoryData<string> Names() =>
        new(Golden.Cases("list.json").Select(entry => (string)entry["name"]!));

    [Theory]
    [MemberData(nameof(Names))]
    public void Follows_the_golden_table(string name)
    {
        var entry = Golden.Cases("list.json").Single(candidate => (string)candidate["name"]! == name);
        foreach (var page in entry["pages"]!)
        {
            var operations = page["operations"]!.Cast<JObject>().Select(OperationOf).ToList();
            var actual = ListPage<string>.Of(
                operations,
                (string?)page["cursor"],
                operation => (operation.OperationId, 100),
                (int)entry["limit"]!,
                100_000);
            if ((bool?)page["refused"] == true)
            {
                Assert.Null(actual);
                continue;
            }

            Assert.Equal(page["ids"]!.Select(id => (string)id!), actual!.Items);
            Assert.Equal((string?)page["nextCursor"], actual.NextCursor);
        }
    }

    [Fact]
    public void A_page_ends_before_it_is_too_long_and_never_before_its_first_operation()
    {
        var sizes = new[] { ("a", 90), ("b", 10), ("c", 101), ("d", 1) };
        var operations = sizes
            .Select((each, index) => new LedgerOperation(each.Item1) { AcceptedAt = index, State = "revoked" }).ToList();
        var pages = "";
        string? cursor = null;
        do
        {
            var page = ListPage<string>.Of(
                operations,
                cursor,
                operation => (operation.OperationId, sizes.Single(each => each.Item1 == operation.OperationId).Item2),
                10,
                100);
            pages += string.Concat(page!.Items) + " ";
            cursor = page.NextCursor;
        }
        while (cursor != null);
        Assert.Equal("ab c d ", pages);
    }

    private static LedgerOperation OperationOf(JObject json)
    {
        var operation = new LedgerOperation((string)json["operationId"]!)
        {
            AcceptedAt = (long?)json["acceptedAt"],
            State = (string)json["state"]!,
        };
        if ((bool?)json["acknowledged"] == true)
        {
            operation.AcknowledgedAt = 1;
        }

        return operation;
    }
}
