using System.Linq;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

public sealed class RecoveryPlannerTests
{
    public static TheoryData<string> Names() =>
        new(Golden.Cases("recovery.json").Select(entry => (string)entry["name"]!));

    [Theory]
    [MemberData(nameof(Names))]
    public void Follows_the_golden_table(string name)
    {
        var entry = Golden.Cases("recovery.json").Single(candidate => (string)candidate["name"]! == name);
        var cause = (string)entry["cause"]! == "domain_reload" ? RecoveryCause.DomainReload : RecoveryCause.EditorExit;
        var operations = entry["operations"]!.Select(operation => new OpenOperation(
            (string)operation["operationId"]!,
            (string)operation["state"]!,
            (bool)operation["readOnly"]!,
            (bool)operation["resumable"]!)).ToList();

        var actual = new JArray(RecoveryPlanner.Plan(cause, operations).Select(Describe));
        Assert.True(JToken.DeepEquals(entry["expected"], actual), $"expected {entry["expected"]}, was {actual}");
    }

    private static JObject Describe(RecoveryStep step)
    {
        var json = new JObject { ["operationId"] = step.OperationId };
        switch (step.Action)
        {
            case RecoveryAction.Requeue:
                json["action"] = "requeue";
                break;
            case RecoveryAction.NotStarted:
                json["action"] = "not_started";
                break;
            case RecoveryAction.Resume:
                json["action"] = "go_on";
                break;
            case RecoveryAction.Forget:
                json["action"] = "forget";
                break;
            case RecoveryAction.Interrupt:
                json["action"] = "interrupt";
                json["reason"] = step.Reason;
                break;
        }

        return json;
    }
}
