#nullable enable
using System;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Push;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>Method names to their parts, and who may call which. Any thread.</summary>
    internal sealed class UnityApiHandler : IRequestHandler
    {
        private readonly HelloAnswer hello;
        private readonly FenceGate fence;
        private readonly WorkerSeat seat;
        private readonly OperationMethods operations;
        private readonly PlainSurface plain;
        private readonly UnityToolRegistry tools;
        private readonly UnityPushClient push;
        private readonly McpSessionManager session;
        private readonly Func<bool> plainBesideWorker;

        public UnityApiHandler(
            HelloAnswer hello,
            FenceGate fence,
            WorkerSeat seat,
            OperationMethods operations,
            PlainSurface plain,
            UnityToolRegistry tools,
            UnityPushClient push,
            McpSessionManager session,
            Func<bool> plainBesideWorker)
        {
            this.hello = hello;
            this.fence = fence;
            this.seat = seat;
            this.operations = operations;
            this.plain = plain;
            this.tools = tools;
            this.push = push;
            this.session = session;
            this.plainBesideWorker = plainBesideWorker;
        }

        public void Closed(IPeer peer)
        {
            seat.Leave(peer);
            session.Disconnected(peer.Id);
        }

        public void Handle(IPeer peer, string method, JToken? parameters, Action<Answer> reply)
        {
            session.Heard(peer.Id);
            var seated = seat.Holds(peer);
            if (seated) fence.Heard();
            if (method == "bridge/hello") reply(Entered(parameters, said => hello.Answer(peer, said)));
            else if (method == "bridge/hand_over") reply(Entered(parameters, fence.TakeOver));
            else if (IsOperation(method)) reply(Operation(seated, method, parameters));
            else Plain(peer, seated, method, parameters, reply);
        }

        private static bool IsOperation(string method) => method.StartsWith("operation/", StringComparison.Ordinal);

        /// <summary>Hello and hand-over: what a stranger's wrong words close the connection for.</summary>
        private static Answer Entered(JToken? parameters, Func<RequestParams, Answer> enter)
        {
            try
            {
                return enter(new RequestParams(parameters));
            }
            catch (InvalidParamsException error)
            {
                return Answer.Error(ErrorCodes.InvalidParams, error.Message).AndClose();
            }
            catch (LedgerUnavailableException error)
            {
                return Answer.Error(ErrorCodes.LedgerUnavailable, "The fence cannot be written: " + error.Message);
            }
        }

        private Answer Operation(bool seated, string method, JToken? parameters)
        {
            if (!seated) return Answer.Error(ErrorCodes.Unauthorized, "Say bridge/hello with the token first.");
            if (method == "operation/submit" && session.IsQuitting)
            {
                return Answer.Error(ErrorCodes.EditorShuttingDown, "The Editor is quitting.");
            }
            return operations.Handle(method, parameters)
                ?? Answer.Error(ErrorCodes.MethodNotFound, $"There is no method {method}.");
        }

        private void Plain(IPeer peer, bool seated, string method, JToken? parameters, Action<Answer> reply)
        {
            var isOff = seat.WasTaken && !plainBesideWorker();
            if (isOff && !seated)
            {
                reply(PlainSurface.Blocked(method, "This Editor is driven by a job broker."));
                return;
            }
            switch (method)
            {
                case "get-tool-details":
                case "get-command-details":
                    reply(ToolDetails(parameters as JObject));
                    return;
                case "set-client-name":
                case "sendPushNotificationEndpoint":
                    reply(Announce(peer, parameters as JObject ?? new JObject()));
                    return;
                case "ping":
                    var text = Either(parameters as JObject ?? new JObject(), "Message") ?? "Hello";
                    reply(Answer.Result(new JObject { ["Message"] = "Unity Editor received: " + text }));
                    return;
                default:
                    // A tool by name would pass the ledger's chain by: the worker's own calls are operations.
                    const string instead = "Submit an operation; this Editor is driven by a job broker.";
                    if (isOff) reply(PlainSurface.Blocked(method, instead));
                    else plain.Call(session.NameOf(peer.Id), method, parameters, reply);
                    return;
            }
        }

        private Answer ToolDetails(JObject? parameters)
        {
            var all = parameters != null && Flag(parameters, "IncludeDevelopmentOnly");
            return Answer.Result(new JObject { ["Tools"] = tools.Details(all), ["Ver"] = session.Version });
        }

        private Answer Announce(IPeer peer, JObject names)
        {
            var name = Either(names, "ClientName");
            if (name != null) session.Named(peer.Id, name);
            var endpoint = Either(names, "PushNotificationEndpoint") ?? Either(names, "Endpoint");
            if (endpoint != null)
            {
                push.ConnectTo(endpoint);
                session.PushEndpoint = endpoint;
            }
            var message = $"Client name is {session.NameOf(peer.Id)}.";
            return Answer.Result(new JObject { ["Message"] = message, ["Success"] = true });
        }

        /// <summary>A text parameter in PascalCase or camelCase; null when it is not there.</summary>
        private static string? Either(JObject parameters, string name)
        {
            var value = Value(parameters, name);
            return value?.Type == JTokenType.String ? (string?)value : null;
        }

        private static bool Flag(JObject parameters, string name) =>
            Value(parameters, name) is { Type: JTokenType.Boolean } value && (bool)value;

        private static JToken? Value(JObject parameters, string name) =>
            parameters[name] ?? parameters[char.ToLowerInvariant(name[0]) + name.Substring(1)];
    }
}
