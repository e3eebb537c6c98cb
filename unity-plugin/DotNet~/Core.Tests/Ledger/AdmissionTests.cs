using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Api;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

public sealed class AdmissionTests
{
    public static TheoryData<string> Names() =>
        new(Golden.Cases("admit.json").Select(entry => (string)entry["name"]!));

    [Theory]
    [MemberData(nameof(Names))]
    public void Follows_the_golden_table(string name)
    {
        var entry = Golden.Cases("admit.json").Single(candidate => (string)candidate["name"]! == name);
        using var folder = new TestFolder(inMemory: true);
        var clock = new ManualClock();
        using var ledger = OperationLedger.Open(new LedgerOptions(folder.Path), clock);
        foreach (var operation in entry["ledger"]!["operations"]!.Cast<JObject>())
        {
            clock.NowMs = (long?)operation["startedAt"] ?? clock.NowMs;
            Bring(ledger, operation);
        }

        var submit = Submit.Read(entry["submit"], out var problem);
        Assert.Null(problem);
        var admitted = Admission.Admit(new GoldenLedger((JObject)entry["ledger"]!, ledger), submit!);

        var expected = (JObject)entry["expected"]!;
        var actual = Describe(ledger, admitted, expected);
        Assert.True(JToken.DeepEquals(expected, actual), $"expected {expected}, was {actual}");
        if (admitted.Kind == AdmittedKind.Refuse)
        {
            Assert.Matches(@"\w", admitted.Message);
            var constant = admitted.CodeName.Replace("_", "");
            var code = typeof(ErrorCodes).GetFields()
                .Single(field => field.Name.Equals(constant, StringComparison.OrdinalIgnoreCase));
            Assert.Equal((int)code.GetRawConstantValue()!, admitted.Code);
        }
    }

    [Theory]
    [InlineData("operationId", 5)]
    [InlineData("after", 5)]
    [InlineData("origin", "text")]
    [InlineData("arguments", "text")]
    [InlineData("acceptedAt", "text")]
    [InlineData("epoch", -1)]
    [InlineData("epoch", 1.5)]
    [InlineData("ledgerId", null)]
    public void A_submit_of_the_wrong_shape_is_named(string field, object? value)
    {
        var submit = (JObject)Golden.Cases("admit.json")[0]["submit"]!;
        submit[field] = value == null ? JValue.CreateNull() : JToken.FromObject(value);
        Assert.Null(Submit.Read(submit, out var problem));
        Assert.Contains(field, problem);
        submit.Remove(field);
        Assert.Null(Submit.Read(submit, out problem));
        Assert.Contains(field, problem);
        Assert.Null(Submit.Read(null, out problem));
        Assert.NotNull(problem);
    }

    [Fact]
    public void Same_as_one_with_a_large_result_names_its_length()
    {
        using var folder = new TestFolder(inMemory: true);
        using var ledger = OperationLedger.Open(new LedgerOptions(folder.Path), new ManualClock());
        var operation = ledger.Ended("one", result: new JObject { ["text"] = new string('x', 2000) });
        var same = new WireJson(ledger, 1000).SameAs(operation);
        Assert.Equal(2011, (long)same["outcome"]!["resultBytes"]!);
        Assert.Null(same["outcome"]!["result"]);
    }

    /// <summary>Lives the operation's life up to the state that the case wants.</summary>
    private static void Bring(OperationLedger ledger, JObject json)
    {
        var state = (string)json["state"]!;
        var id = (string)json["operationId"]!;
        if (json["argumentsHash"] == null)
        {
            ledger.Revoke(id);
            return;
        }

        var operation = new LedgerOperation(id)
        {
            Hash = (string?)json["hash"],
            ArgumentsHash = (string?)json["argumentsHash"],
            Origin = (JObject?)json["origin"],
            After = (string?)json["after"],
            AcceptedAt = (long?)json["acceptedAt"] ?? 1,
            ReadOnly = (bool?)json["readOnly"] ?? false,
        };
        ledger.Accept(operation);
        if (state == LedgerState.Revoked)
        {
            ledger.Revoke(id);
        }
        else if (state == LedgerState.NotStarted)
        {
            ledger.MarkNotStarted(operation);
        }
        else if (json["outcome"] is JObject refusal && refusal["startedAt"] == null)
        {
            ledger.End(operation, OutcomeOf(refusal));
        }
        else if (state != LedgerState.Accepted)
        {
            ledger.Begin(operation);
            if (json["outcome"] is JObject outcome)
            {
                ledger.End(operation, OutcomeOf(outcome));
            }
        }

        Assert.Equal(state, operation.State);
    }

    private static Outcome OutcomeOf(JObject json) => new(
        (string)json["status"]!,
        json["result"] is { } result ? JsonText.Of(result) : null,
        (string?)json["error"]?["type"],
        (string?)json["error"]?["message"],
        null,
        (long?)json["startedAt"],
        (long)json["endedAt"]!,
        (JObject?)json["endedIn"]);

    /// <summary>What was admitted, in the words of the golden table.</summary>
    private static JObject Describe(OperationLedger ledger, Admitted admitted, JObject expected)
    {
        var operation = admitted.Operation;
        switch (admitted.Kind)
        {
            case AdmittedKind.Run:
                return new JObject { ["kind"] = "run" };
            case AdmittedKind.SecurityRefused:
                return new JObject { ["kind"] = "security_refused", ["reason"] = admitted.Reason };
            case AdmittedKind.Refuse:
                var refused = new JObject { ["kind"] = "refuse", ["code"] = admitted.CodeName };
                if (admitted.HighestEpoch != null)
                {
                    refused["highestEpoch"] = admitted.HighestEpoch;
                }

                return refused;
            case AdmittedKind.SameAs:
                // As it travels: a null text is a null there.
                var same = JObject.Parse(new WireJson(ledger, 1024 * 1024).SameAs(operation!).ToString());
                same["kind"] = same["state"];
                same.Remove("state");
                return same;
            default:
                var attached = new JObject { ["kind"] = "attach", ["state"] = operation!.State };
                if (operation.Outcome is { } outcome)
                {
                    var outcomeJson = new JObject { ["status"] = outcome.Status };
                    if (ledger.ResultOf(operation) is { } result)
                    {
                        outcomeJson["result"] = result.DeepClone();
                    }

                    if (outcome.ErrorType != null)
                    {
                        outcomeJson["error"] = new JObject
                        {
                            ["type"] = outcome.ErrorType,
                            ["message"] = outcome.ErrorMessage,
                        };
                    }

                    outcomeJson["startedAt"] = outcome.StartedAt;
                    outcomeJson["endedAt"] = outcome.EndedAt;
                    if (expected["outcome"]?["executionMs"] != null)
                    {
                        outcomeJson["executionMs"] = outcome.EndedAt - outcome.StartedAt;
                    }

                    attached["outcome"] = outcomeJson;
                }

                return attached;
        }
    }

    /// <summary>The case's Editor, over a real ledger.</summary>
    private sealed class GoldenLedger(JObject json, OperationLedger ledger) : IAdmitLedger
    {
        public string LedgerId => (string)json["ledgerId"]!;

        public Fence? Fence => json["fence"] is JObject fence
            ? new Fence((long)fence["epoch"]!, (string)fence["ownerNonce"]!)
            : null;

        public long ForgetHorizon => (long)json["forgetHorizon"]!;

        public LedgerOperation? Get(string operationId) => ledger.Get(operationId);

        public LedgerOperation? LatestOfHash(string hash) => ledger.LatestOfHash(hash);

        public bool HasTool(string tool) => json["tools"]![tool] != null;

        public bool IsReadOnly(string tool) => (bool?)json["tools"]![tool]?["readOnly"] ?? false;

        public string? SecurityRefusal(string tool, JObject arguments) => (string?)json["tools"]![tool]?["refused"];
    }
}
