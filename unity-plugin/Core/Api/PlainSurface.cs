#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>
    /// The uLoop-compatible calls of plain clients: every tool by its own name. They go through the ledger too: the
    /// same call of the same client joins a call that is open, or whose answer was never returned, instead of running
    /// again, because such clients repeat calls that they believe lost. Any thread.
    /// </summary>
    internal sealed class PlainSurface
    {
        private readonly OperationLedger ledger;
        private readonly OperationMethods operations;
        private readonly UnityToolRegistry tools;
        private readonly McpSecurityChecker security;
        private readonly IClock clock;
        private readonly Dictionary<string, List<Action<LedgerOperation>>> waiting =
            new Dictionary<string, List<Action<LedgerOperation>>>(StringComparer.Ordinal);

        public PlainSurface(
            OperationLedger ledger,
            OperationMethods operations,
            UnityToolRegistry tools,
            McpSecurityChecker security,
            IClock clock)
        {
            this.ledger = ledger;
            this.operations = operations;
            this.tools = tools;
            this.security = security;
            this.clock = clock;
        }

        public void Call(string clientName, string tool, JToken? parameters, Action<Answer> reply)
        {
            if (tools.Get(tool) == null)
            {
                reply(Answer.Error(ErrorCodes.MethodNotFound, $"There is no method {tool}."));
                return;
            }
            var arguments = parameters as JObject ?? new JObject();
            var refusal = security.Refusal(tool, arguments);
            if (refusal != null)
            {
                reply(Blocked(tool, refusal));
                return;
            }
            try
            {
                lock (ledger.Gate)
                {
                    var operation = JoinOrStart(clientName, tool, arguments);
                    if (operation.Outcome == null) Wait(operation.OperationId, ended => reply(AnswerOf(ended)));
                    else reply(AnswerOf(operation));
                }
            }
            catch (LedgerUnavailableException error)
            {
                reply(Internal(error.Message));
            }
        }

        /// <summary>Answers the waiting plain callers. Operations of a worker are reported by notification.</summary>
        public void Ended(LedgerOperation operation)
        {
            List<Action<LedgerOperation>>? waiters;
            lock (waiting)
            {
                if (!waiting.TryGetValue(operation.OperationId, out waiters)) return;
                waiting.Remove(operation.OperationId);
            }
            foreach (var complete in waiters) complete(operation);
        }

        public static Answer Blocked(string command, string reason)
        {
            var data = new JObject { ["type"] = "security_blocked", ["command"] = command, ["reason"] = reason };
            return Answer.Error(ErrorCodes.InternalError, reason, data);
        }

        private LedgerOperation JoinOrStart(string clientName, string tool, JObject arguments)
        {
            var hash = "plain:" + Digest(new JArray(clientName, tool, Sorted(arguments)));
            var latest = ledger.Operations()
                .LastOrDefault(known => known.Hash == hash && known.AcknowledgedAt == null);
            if (latest != null && (latest.Outcome != null || LedgerState.IsOpen(latest.State))) return latest;
            var operation = new LedgerOperation("plain-" + Guid.NewGuid().ToString("D"))
            {
                Hash = hash,
                After = ledger.LatestOfHash(hash)?.OperationId,
                Origin = new JObject { ["principal"] = clientName, ["tool"] = tool, ["fingerprint"] = hash },
                Tool = tool,
                Arguments = arguments,
                ArgumentsHash = hash,
                AcceptedAt = clock.NowMs,
                ReadOnly = tools.Get(tool)!.IsReadOnly,
            };
            operations.Accept(operation, null);
            return ledger.Get(operation.OperationId)!;
        }

        private void Wait(string operationId, Action<LedgerOperation> complete)
        {
            lock (waiting)
            {
                if (!waiting.TryGetValue(operationId, out var waiters))
                {
                    waiters = new List<Action<LedgerOperation>>();
                    waiting[operationId] = waiters;
                }
                waiters.Add(complete);
            }
        }

        private Answer AnswerOf(LedgerOperation operation)
        {
            var outcome = operation.Outcome!;
            var answer = outcome.Status == LedgerState.Completed
                ? Answer.Result(ledger.ResultOf(operation) ?? JValue.CreateNull())
                : Internal(outcome.ErrorMessage ?? outcome.Status);
            // Until the answer is written, the next identical call gets this outcome.
            return answer.Then(() => ledger.Acknowledge(new[] { operation.OperationId }));
        }

        private static Answer Internal(string message)
        {
            var data = new JObject { ["type"] = "internal_error", ["message"] = message };
            return Answer.Error(ErrorCodes.InternalError, message, data);
        }

        /// <summary>The same arguments in another order are the same call.</summary>
        private static JToken Sorted(JToken value)
        {
            if (value is JArray array) return new JArray(array.Select(Sorted));
            if (!(value is JObject json)) return value.DeepClone();
            var names = json.Properties().OrderBy(property => property.Name, StringComparer.Ordinal);
            return new JObject(names.Select(property => new JProperty(property.Name, Sorted(property.Value))));
        }

        private static string Digest(JToken value) =>
            BitConverter.ToString(Sha256.Of(value.ToString(Formatting.None))).Replace("-", "").ToLowerInvariant();
    }
}
