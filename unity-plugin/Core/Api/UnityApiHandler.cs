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
    /// <summary>Routes requests by method name, and checks who may call which. Any thread.</summary>
    internal sealed class UnityApiHandler : IRequestHandler
    {
        private const string PlainIsOff = "This bridge answers only callers that prove to hold its token. To call tools without "
            + "it, turn on the plain surface: then every program and user of this machine may run them.";

        public Door Door { get; init; } = null!;

        public Handshake Handshake { get; init; } = null!;

        public FenceGate Fence { get; init; } = null!;

        public WorkerSeat Seat { get; init; } = null!;

        public OperationMethods Operations { get; init; } = null!;

        public PlainSurface PlainCalls { get; init; } = null!;

        public UnityToolRegistry Tools { get; init; } = null!;

        public UnityPushClient Push { get; init; } = null!;

        public McpSessionManager Session { get; init; } = null!;

        /// <summary>While it returns true, every program that reaches the port may call tools by their names, without any proof.</summary>
        public Func<bool> IsPlainSurface { get; init; } = null!;

        public void Closed(IPeer peer)
        {
            Door.Left(peer);
            Seat.Leave(peer);
            Session.Disconnected(peer.Id);
        }

        public void Handle(IPeer peer, string method, JToken? parameters, Action<Answer> reply)
        {
            Session.MessageReceived(peer.Id);
            var seated = Seat.Holds(peer);
            if (method == "bridge/hello") reply(Entered(() => Hello(peer, new HelloParams(parameters))));
            else if (method == "bridge/hand_over") reply(Entered(() => HandOver(peer, new HandOverParams(parameters))));
            else if (method == "bridge/prove") reply(Entered(() => Door.Prove(peer, parameters)));
            else if (IsOperation(method)) reply(Operation(seated, method, parameters));
            else Plain(peer, seated, method, parameters, reply);
        }

        /// <summary>Only the worker that has proven itself is heard.</summary>
        public void Notified(IPeer peer, string method, JToken? parameters)
        {
            if (method == "bridge/clients" && Seat.Holds(peer)) Session.McpClients.Take(peer.Id, parameters);
        }

        private static bool IsOperation(string method) => method.StartsWith("operation/", StringComparison.Ordinal);

        private Answer Hello(IPeer peer, HelloParams request) =>
            Door.Challenge(peer, request.Nonce, () => Handshake.Answer(peer, request));

        private Answer HandOver(IPeer peer, HandOverParams request) =>
            Door.Challenge(peer, request.Nonce, () => Fence.TakeOver(request));

        /// <summary>Before admission, invalid parameters close the connection.</summary>
        private static Answer Entered(Func<Answer> enter)
        {
            try
            {
                return enter();
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
            if (!seated) return Answer.Error(ErrorCodes.Unauthorized, "Say bridge/hello first.");
            if (method == "operation/submit" && Session.IsQuitting)
            {
                return Answer.Error(ErrorCodes.EditorShuttingDown, "The Editor is quitting.");
            }
            return Operations.Handle(method, parameters)
                ?? Answer.Error(ErrorCodes.MethodNotFound, $"There is no method {method}.");
        }

        private void Plain(IPeer peer, bool seated, string method, JToken? parameters, Action<Answer> reply)
        {
            if (!seated && !IsPlainSurface())
            {
                reply(PlainSurface.Blocked(method, PlainIsOff));
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
                    // A direct call would bypass the ledger's chain: the worker's calls are operations.
                    const string instead = "Submit an operation: a job broker drives this Editor.";
                    if (seated) reply(PlainSurface.Blocked(method, instead));
                    else PlainCalls.Call(Session.NameOf(peer.Id), method, parameters, reply);
                    return;
            }
        }

        private Answer ToolDetails(JObject? parameters)
        {
            var all = parameters != null && Flag(parameters, "IncludeDevelopmentOnly");
            return Answer.Result(new JObject { ["Tools"] = Tools.Details(all), ["Ver"] = Session.Version });
        }

        private Answer Announce(IPeer peer, JObject names)
        {
            var name = Either(names, "ClientName");
            if (name != null) Session.SetClientName(peer.Id, name);
            var endpoint = Either(names, "PushNotificationEndpoint") ?? Either(names, "Endpoint");
            var key = Either(names, "PushNotificationKey") ?? Either(names, "Key");
            if (endpoint != null && Push.ConnectTo(endpoint, key)) Session.SetPushEndpoint(endpoint, key);
            var message = $"Client name is {Session.NameOf(peer.Id)}.";
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
