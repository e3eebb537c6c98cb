using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Execution;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class OutcomeOfTests
{
    private readonly ManualClock clock = new();

    [Fact]
    public void It_has_ended_when_its_result_is_written()
    {
        IEnumerable<int> Slow()
        {
            clock.NowMs += 500;
            yield return 1;
        }

        var outcome = OutcomeOf.Task(Task.FromResult<object?>(Slow()), false, 900, clock);
        Assert.Equal((900, 1_500), (outcome.StartedAt!.Value, outcome.EndedAt));
    }

    public static IEnumerable<object?[]> Results() => new object?[]
    {
        null,
        "ä€\ud83d\udc7e\"\\\n",
        1.0,
        float.NaN,
        12345678901234567890m,
        new DateTime(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc),
        new { Text = "x", Nothing = (string?)null, Mode = SearchMode.Synchronous, Items = new object[] { 1, true, 2.5 } },
        new Dictionary<string, object?> { ["a"] = null, ["b"] = new[] { Guid.Empty } },
        new JObject { ["when"] = "2026-01-02T03:04:05Z", ["nothing"] = null, ["big"] = 9007199254740993 },
        Enumerable.Range(0, 3).Select(number => new { number }),
    }.Select(result => new[] { result });

    [Theory]
    [MemberData(nameof(Results))]
    public void A_result_is_written_as_its_tokens_would_be(object? result)
    {
        var outcome = OutcomeOf.Task(Task.FromResult(result), false, 1, clock);
        Assert.Equal(LedgerState.Completed, outcome.Status);
        Assert.Equal(ToolJson.From(result).ToString(Formatting.None), outcome.Result!.ToString());
    }

    [Theory]
    [InlineData(ToolException.DomainReload)]
    [InlineData(ToolException.OutcomeUnknown)]
    public void What_nobody_knows_is_interrupted_not_failed(string type)
    {
        var error = Task.FromException<object?>(new ToolException(type, "Look there."));
        var outcome = OutcomeOf.Task(error, false, 1, clock);
        Assert.Equal(LedgerState.Interrupted, outcome.Status);
        Assert.Equal((type, "Look there."), (outcome.ErrorType, outcome.ErrorMessage));
    }

    [Fact]
    public void A_result_that_cannot_be_written_is_a_failure_that_says_so()
    {
        var ring = new List<object>();
        ring.Add(ring);
        foreach (var result in new object[] { ring, Broken() })
        {
            var outcome = OutcomeOf.Task(Task.FromResult<object?>(result), false, 1, clock);
            Assert.Equal((LedgerState.Failed, "result_not_serializable"), (outcome.Status, outcome.ErrorType));
            Assert.StartsWith("The tool ran, but its result cannot be written as JSON: ", outcome.ErrorMessage);
        }
    }

    private static IEnumerable<int> Broken()
    {
        yield return 1;
        throw new InvalidOperationException("the scene was closed");
    }
}
