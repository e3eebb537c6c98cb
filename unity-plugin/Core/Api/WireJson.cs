#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>Operations and outcomes as JSON of the wire (docs/reference/protocol.md, section 4).</summary>
    internal sealed class WireJson
    {
        private readonly OperationLedger ledger;
        private readonly int inlineResultBytes;

        /// <param name="inlineResultBytes">A longer result is left out and named by its length.</param>
        public WireJson(OperationLedger ledger, int inlineResultBytes)
        {
            this.ledger = ledger;
            this.inlineResultBytes = inlineResultBytes;
        }

        /// <summary>The outcome of an operation that has ended.</summary>
        public JObject OutcomeOf(LedgerOperation operation)
        {
            var outcome = operation.Outcome!;
            var json = new JObject { ["status"] = outcome.Status };
            if (outcome.Status == LedgerState.Completed) AddResult(json, operation);
            if (outcome.ErrorType != null)
            {
                var error = new JObject { ["type"] = outcome.ErrorType, ["message"] = outcome.ErrorMessage };
                if (outcome.Stack != null) error["stack"] = outcome.Stack;
                json["error"] = error;
            }
            if (outcome.StartedAt != null)
            {
                json["startedAt"] = outcome.StartedAt;
                json["executionMs"] = outcome.EndedAt - outcome.StartedAt;
            }
            json["endedAt"] = outcome.EndedAt;
            if (outcome.EndedIn != null) json["endedIn"] = outcome.EndedIn.DeepClone();
            return json;
        }

        /// <summary>
        /// The answer to a submit that finds this other operation of its hash: enough to restore its record in a store
        /// that lost it.
        /// </summary>
        public JObject SameAs(LedgerOperation other)
        {
            var json = new JObject
            {
                ["state"] = "same_as",
                ["operationId"] = other.OperationId,
                ["stateThere"] = other.State,
            };
            if (other.Origin != null) json["origin"] = other.Origin.DeepClone();
            if (other.AcceptedAt != null) json["acceptedAt"] = other.AcceptedAt;
            json["after"] = other.After;
            AddTimes(json, other);
            if (other.Outcome != null) json["outcome"] = OutcomeOf(other);
            return json;
        }

        /// <summary>An operation without its arguments and its outcome, and its length as JSON.</summary>
        public (JObject Item, int Characters) Listed(LedgerOperation operation)
        {
            var json = new JObject { ["operationId"] = operation.OperationId, ["state"] = operation.State };
            if (operation.Hash != null)
            {
                json["hash"] = operation.Hash;
                json["after"] = operation.After;
            }
            if (operation.Origin != null) json["origin"] = operation.Origin.DeepClone();
            if (operation.Tool != null) json["tool"] = operation.Tool;
            if (operation.ArgumentsHash != null) json["argumentsHash"] = operation.ArgumentsHash;
            if (operation.AcceptedAt != null) json["acceptedAt"] = operation.AcceptedAt;
            AddTimes(json, operation);
            json["readOnly"] = operation.ReadOnly;
            return (json, json.ToString(Formatting.None).Length);
        }

        public static JArray IdsAndStates(IEnumerable<LedgerOperation> operations) =>
            new JArray(operations.Select(operation => new JObject
            {
                ["operationId"] = operation.OperationId,
                ["state"] = operation.State,
            }));

        public static JArray Ids(IEnumerable<LedgerOperation> operations) =>
            new JArray(operations.Select(operation => operation.OperationId));

        /// <summary>A refused operation has an end and no start.</summary>
        private static void AddTimes(JObject json, LedgerOperation operation)
        {
            var outcome = operation.Outcome;
            var startedAt = outcome == null ? operation.StartedAt : outcome.StartedAt;
            if (startedAt != null) json["startedAt"] = startedAt;
            if (outcome == null) return;
            json["endedAt"] = outcome.EndedAt;
            if (outcome.EndedIn != null) json["endedIn"] = outcome.EndedIn.DeepClone();
        }

        private void AddResult(JObject json, LedgerOperation operation)
        {
            var bytes = ledger.ResultBytes(operation);
            if (bytes > inlineResultBytes) json["resultBytes"] = bytes;
            else json["result"] = ledger.ResultOf(operation) ?? JValue.CreateNull();
        }
    }
}
