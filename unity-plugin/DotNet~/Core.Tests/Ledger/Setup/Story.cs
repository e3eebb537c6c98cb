using System.Linq;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>Every kind of journal entry, and the state of a ledger as JSON.</summary>
internal static class Story
{
    /// <summary>Every kind of entry a journal can hold, snapshot apart.</summary>
    public static void WriteEveryKind(OperationLedger ledger)
    {
        ledger.StartSession("s1");
        ledger.TakeFence(new Fence(3, "n"), "store");
        ledger.Ended("old");
        ledger.Ended("done", result: new JObject { ["text"] = "äöü – 日本語" });
        ledger.Revoke("never submitted");
        ledger.MarkNotStarted(ledger.Accepted("not started", "h3"));
        ledger.Acknowledge(new[] { "old", "done" });
        ledger.Forget();
        ledger.StartSession("s2");
        var failed = ledger.Begun("failed", "h2");
        var error = Outcome.Error(LedgerState.Failed, "internal_error", "It \"failed\".", 1000, 2000, "at A\nat B");
        ledger.End(failed, error);
        ledger.Begun("running", "h4");
        ledger.Accepted("accepted", "h4");
    }

    /// <summary>All that a ledger knows, as text that can be compared.</summary>
    public static JObject Describe(OperationLedger ledger) => new()
    {
        ["ledgerId"] = ledger.LedgerId,
        ["ledgerSeq"] = ledger.LedgerSeq,
        ["fence"] = ledger.Fence == null ? null : $"{ledger.Fence.Epoch} {ledger.Fence.OwnerNonce}",
        ["bound"] = ledger.BoundStore == null ? null : $"{ledger.BoundStore.StoreId} {ledger.BoundStore.Since}",
        ["session"] = ledger.Session,
        ["previous"] = ledger.PreviousSession == null
            ? null
            : $"{ledger.PreviousSession.EditorSessionId} {ledger.PreviousSession.LedgerSeq}",
        ["horizon"] = ledger.ForgetHorizon,
        ["operations"] = new JArray(ledger.Operations().Select(operation => new JObject
        {
            ["id"] = operation.OperationId,
            ["state"] = operation.State,
            ["hash"] = operation.Hash,
            ["after"] = operation.After,
            ["tool"] = operation.Tool,
            ["origin"] = operation.Origin?.ToString(),
            ["arguments"] = operation.Arguments?.ToString(),
            ["argumentsHash"] = operation.ArgumentsHash,
            ["acceptedAt"] = operation.AcceptedAt,
            ["startedAt"] = operation.StartedAt,
            ["acknowledgedAt"] = operation.AcknowledgedAt,
            ["result"] = ledger.ResultOf(operation)?.ToString(),
            ["error"] = operation.Outcome?.ErrorType + operation.Outcome?.ErrorMessage + operation.Outcome?.Stack,
            ["times"] = $"{operation.Outcome?.StartedAt} {operation.Outcome?.EndedAt}",
            ["latest"] = operation.Hash == null ? null : ledger.LatestOfHash(operation.Hash)?.OperationId,
        })),
    };
}
