#nullable enable
using System;
using JobBroker.Bridge.Execution;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>The methods <c>operation/*</c> over the ledger. Every one answers at once; any thread.</summary>
    internal sealed class OperationMethods
    {
        /// <summary>Keeps a page of operation/list far below the frame limit, however long the origins are.</summary>
        private const int ListedOperations = 500;
        private const int ListedCharacters = 256 * 1024;

        public OperationLedger Ledger { get; init; } = null!;

        public ExecutionEngine Engine { get; init; } = null!;

        public Settlement Settlement { get; init; } = null!;

        public OperationQueue Queue { get; init; } = null!;

        public CancellationRegistry Cancellations { get; init; } = null!;

        public ProgressBoard Progress { get; init; } = null!;

        public UnityToolRegistry Tools { get; init; } = null!;

        public McpSecurityChecker Security { get; init; } = null!;

        public WireJson Wire { get; init; } = null!;

        public IClock Clock { get; init; } = null!;

        public int LongestPart { get; init; }

        /// <summary>Answers a request of the worker; null for a method that is not here.</summary>
        public Answer? Handle(string method, JToken? parameters)
        {
            try
            {
                switch (method)
                {
                    case "operation/submit":
                        return Submit(parameters);
                    case "operation/get":
                        return Get(new RequestParams(parameters).Text("operationId"));
                    case "operation/revoke":
                        return Revoke(new RequestParams(parameters).Text("operationId"));
                    case "operation/cancel":
                        return Cancel(new RequestParams(parameters).Text("operationId"));
                    case "operation/list":
                        return List(new RequestParams(parameters ?? new JObject()).OptionalText("cursor"));
                    case "operation/result":
                        return Result(new RequestParams(parameters));
                    case "operation/ack":
                        return Acknowledge(new RequestParams(parameters));
                    default:
                        return null;
                }
            }
            catch (InvalidParamsException error)
            {
                return Answer.Error(ErrorCodes.InvalidParams, error.Message);
            }
            catch (LedgerUnavailableException error)
            {
                var data = new JObject { ["ledgerSeq"] = Ledger.LedgerSeq };
                return Answer.Error(ErrorCodes.LedgerUnavailable, error.Message, data);
            }
        }

        /// <summary>
        /// Enters an operation into the ledger and queues it, or records its refusal, so that a repeated submit gets
        /// the same answer. The caller holds the ledger's gate since the decision.
        /// </summary>
        public void Accept(LedgerOperation operation, string? refusal)
        {
            Ledger.Accept(operation);
            if (refusal == null) Engine.Queue(operation, Tools.Get(operation.Tool!)!);
            else Ledger.End(operation, Refused(refusal));
        }

        private Outcome Refused(string reason) =>
            Outcome.Error(LedgerState.Failed, "security_blocked", reason, null, Clock.NowMs);

        private Answer Submit(JToken? parameters)
        {
            var submit = JobBroker.Bridge.Ledger.Submit.Read(parameters, out var problem);
            if (submit == null) return Answer.Error(ErrorCodes.InvalidParams, problem!);
            // One critical section with hello: a submit below a higher fence is not journalled.
            lock (Ledger.Gate)
            {
                var admitted = Admission.Admit(new AdmitLedger(Ledger, Tools, Security), submit);
                switch (admitted.Kind)
                {
                    case AdmittedKind.Run:
                        Accept(OperationOf(submit), null);
                        return Reply(new JObject { ["state"] = LedgerState.Accepted });
                    case AdmittedKind.SecurityRefused:
                        Accept(OperationOf(submit), admitted.Reason);
                        return Attached(submit.OperationId);
                    case AdmittedKind.Attach:
                        return Attached(submit.OperationId);
                    case AdmittedKind.SameAs:
                        return Reply(Wire.SameAs(admitted.Operation!));
                    default:
                        return Refuse(admitted);
                }
            }
        }

        private LedgerOperation OperationOf(Submit submit) =>
            submit.ToOperation(Tools.Get(submit.Tool)?.IsReadOnly ?? false);

        private Answer Attached(string operationId)
        {
            var operation = Ledger.Get(operationId)!;
            var json = new JObject { ["state"] = operation.State };
            if (operation.Outcome != null) json["outcome"] = Wire.OutcomeOf(operation);
            return Reply(json);
        }

        private Answer Refuse(Admitted admitted)
        {
            var data = new JObject { ["ledgerSeq"] = Ledger.LedgerSeq };
            if (admitted.HighestEpoch != null) data["highestEpoch"] = admitted.HighestEpoch;
            return Answer.Error(admitted.Code, admitted.Message, data);
        }

        private Answer Get(string operationId)
        {
            lock (Ledger.Gate)
            {
                var operation = Ledger.Get(operationId);
                if (operation == null) return Reply(new JObject { ["state"] = "unknown" });
                var json = new JObject { ["state"] = operation.State };
                if (operation.Origin != null) json["origin"] = operation.Origin.DeepClone();
                var last = Progress.Last(operationId);
                if (last != null)
                {
                    json["progress"] = last.DeepClone();
                    if (last["partialResult"] is { } partial) json["partialResult"] = partial.DeepClone();
                }
                if (operation.Outcome != null) json["outcome"] = Wire.OutcomeOf(operation);
                return Reply(json);
            }
        }

        private Answer Revoke(string operationId)
        {
            lock (Ledger.Gate)
            {
                var operation = Ledger.Get(operationId);
                if (operation?.State == LedgerState.Running) return State("already_started");
                if (operation != null && LedgerState.HasEnded(operation.State)) return State("finished");
                if (operation?.State != LedgerState.Revoked)
                {
                    // Journal first: under the gate nothing can begin before it leaves the queue.
                    Ledger.Revoke(operationId);
                    Queue.Remove(operationId);
                }
                return State(LedgerState.Revoked);
            }
        }

        private Answer Cancel(string operationId)
        {
            lock (Ledger.Gate)
            {
                var operation = Ledger.Get(operationId);
                if (operation == null)
                {
                    return Answer.Error(ErrorCodes.InvalidParams, $"There is no operation {operationId} here.");
                }
                // not_started and revoked operations do not run by themselves.
                if (!LedgerState.IsOpen(operation.State)) return State("finished");
                if (operation.State == LedgerState.Accepted)
                {
                    Queue.Remove(operationId);
                    const string message = "Cancelled before it began.";
                    Settlement.Settle(
                        operation,
                        Outcome.Error(LedgerState.Cancelled, "cancelled", message, null, Clock.NowMs));
                    return State(LedgerState.Cancelled);
                }
            }
            // Outside the gate: a tool's own callback may be slow.
            return State(Cancellations.Request(operationId) ? "requested" : "not_cancellable");
        }

        private Answer List(string? cursor)
        {
            lock (Ledger.Gate)
            {
                var page = ListPage<JObject>.Of(
                    Ledger.Operations(), cursor, Wire.Listed, ListedOperations, ListedCharacters);
                if (page == null) return Answer.Error(ErrorCodes.InvalidParams, "The cursor does not belong to this list.");
                var json = new JObject { ["operations"] = new JArray(page.Items) };
                if (page.NextCursor != null) json["nextCursor"] = page.NextCursor;
                return Reply(json);
            }
        }

        private Answer Result(RequestParams request)
        {
            var operationId = request.Text("operationId");
            var offset = request.Count("offset");
            // A part must fit into a frame, whatever length was requested.
            var length = (int)Math.Min(request.Count("length"), LongestPart);
            var operation = Ledger.Get(operationId);
            var part = operation == null ? null : Ledger.ResultPart(operation, offset, length);
            if (part == null)
            {
                return Answer.Error(ErrorCodes.InvalidParams, $"There is no result of {operationId} here.");
            }
            return Reply(new JObject
            {
                ["operationId"] = operationId,
                ["offset"] = offset,
                ["total"] = Ledger.ResultBytes(operation!),
                ["base64"] = Convert.ToBase64String(part),
            });
        }

        private Answer Acknowledge(RequestParams request)
        {
            var ids = request.Texts("operationIds");
            Ledger.Acknowledge(ids);
            Ledger.Forget();
            foreach (var id in ids) Progress.Forget(id);
            return Reply(new JObject());
        }

        private Answer State(string state) => Reply(new JObject { ["state"] = state });

        private Answer Reply(JObject json)
        {
            json["ledgerSeq"] = Ledger.LedgerSeq;
            return Answer.Result(json);
        }
    }
}
