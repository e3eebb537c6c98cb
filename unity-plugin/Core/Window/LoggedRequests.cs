#nullable enable
using System;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Window
{
    /// <summary>Writes every request and its answer into the communication log on their way; no notifications. Any thread.</summary>
    public sealed class LoggedRequests : IRequestHandler
    {
        private readonly IRequestHandler handler;
        private readonly McpCommunicationLog log;
        private readonly Func<int, string> nameOf;

        /// <param name="nameOf">What the client of a connection calls itself.</param>
        public LoggedRequests(IRequestHandler handler, McpCommunicationLog log, Func<int, string> nameOf)
        {
            this.handler = handler;
            this.log = log;
            this.nameOf = nameOf;
        }

        public void Handle(IPeer peer, string method, JToken? parameters, Action<Answer> reply)
        {
            log.Add(CommunicationKind.Request, nameOf(peer.Id), method, parameters);
            handler.Handle(peer, method, parameters, answer =>
            {
                // The log comes second: nothing that it does may cost a caller the answer.
                reply(answer);
                var name = nameOf(peer.Id);
                if (answer.Code == 0) log.Add(CommunicationKind.Result, name, method, answer.Value);
                else log.Add(CommunicationKind.Error, name, method, Error(answer));
            });
        }

        public void Notified(IPeer peer, string method, JToken? parameters) =>
            handler.Notified(peer, method, parameters);

        public void Closed(IPeer peer) => handler.Closed(peer);

        private static JObject Error(Answer answer)
        {
            var error = new JObject { ["code"] = answer.Code, ["message"] = answer.Message };
            if (answer.Data != null) error["data"] = answer.Data.DeepClone();
            return error;
        }
    }
}
