using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>Operations and outcomes as tests use them.</summary>
internal static class Sample
{
    public static LedgerOperation Operation(string id, string hash = "h", bool readOnly = false, long acceptedAt = 1) =>
        new(id)
        {
            Hash = hash,
            Tool = readOnly ? "get-hierarchy" : "execute-menu-item",
            Origin = new JObject { ["principal"] = "local", ["tool"] = "t", ["fingerprint"] = "fp" },
            Arguments = new JObject { ["Path"] = "A/B" },
            ArgumentsHash = "a",
            AcceptedAt = acceptedAt,
            ReadOnly = readOnly,
        };

    public static LedgerOperation Accepted(
        this OperationLedger ledger, string id, string hash = "h", long acceptedAt = 1)
    {
        var operation = Operation(id, hash, false, acceptedAt);
        ledger.Accept(operation);
        return operation;
    }

    public static LedgerOperation Begun(this OperationLedger ledger, string id, string hash = "h")
    {
        var operation = ledger.Accepted(id, hash);
        ledger.Begin(operation);
        return operation;
    }

    public static LedgerOperation Ended(
        this OperationLedger ledger, string id, string hash = "h", JToken? result = null, long acceptedAt = 1)
    {
        var operation = ledger.Accepted(id, hash, acceptedAt);
        ledger.Begin(operation);
        ledger.End(operation, Outcome.Completed(JsonText.Of(result ?? new JObject { ["ok"] = true }), 1000, 2000));
        return operation;
    }

    public static Outcome Interrupted(string type = "editor_exit") =>
        Outcome.Error(LedgerState.Interrupted, type, "It began.", 1, 2);
}
