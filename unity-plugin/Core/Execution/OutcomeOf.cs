#nullable enable
using System;
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>Maps the end of a call to its outcome.</summary>
    internal static class OutcomeOf
    {
        /// <summary>
        /// The outcome of a task that is complete; never throws. It ends when its result is serialized: that counts as
        /// the tool's time.
        /// </summary>
        public static Outcome Task(Task<object?> task, bool cancelRequested, long? startedAt, IClock clock)
        {
            if (task.Status != TaskStatus.RanToCompletion)
            {
                var error = task.Exception?.GetBaseException() ?? new OperationCanceledException();
                return Error(error, cancelRequested, startedAt ?? clock.NowMs, clock.NowMs);
            }
            try
            {
                var text = Text(task.Result);
                return Outcome.Completed(text, startedAt ?? clock.NowMs, clock.NowMs);
            }
            catch (Exception error)
            {
                // From Newtonsoft, or from a lazily evaluated sequence in the result.
                var message = "The tool ran, but its result cannot be written as JSON: " + error.Message;
                const string type = "result_not_serializable";
                return Outcome.Error(LedgerState.Failed, type, message, startedAt ?? clock.NowMs, clock.NowMs);
            }
        }

        private static JsonText Text(object? result) =>
            result is JToken token ? JsonText.Of(token) : JsonText.Of(writer => ToolJson.Write(result, writer));

        private static Outcome Error(Exception error, bool cancelRequested, long startedAt, long endedAt)
        {
            if (error is ToolException { Type: ToolException.DomainReload or ToolException.OutcomeUnknown } unknown)
            {
                return Outcome.Error(LedgerState.Interrupted, unknown.Type, error.Message, startedAt, endedAt);
            }
            if (cancelRequested && (error is OperationCanceledException || error is ToolException { Type: "cancelled" }))
            {
                const string message = "Cancelled while it was running.";
                return Outcome.Error(LedgerState.Cancelled, "cancelled", message, startedAt, endedAt);
            }
            var type = error is ToolException failure ? failure.Type : "internal_error";
            var stack = error is ToolException ? null : error.StackTrace;
            return Outcome.Error(LedgerState.Failed, type, error.Message, startedAt, endedAt, stack);
        }
    }
}
