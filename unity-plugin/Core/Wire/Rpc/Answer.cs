#nullable enable
using System;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Wire
{
    /// <summary>The response to a request: a result or an error.</summary>
    public sealed class Answer
    {
        private Answer(JToken? result, int code, string message, JToken? data)
        {
            Value = result;
            Code = code;
            Message = message;
            Data = data;
        }

        /// <summary>The result; null for an error.</summary>
        public JToken? Value { get; }

        /// <summary>The JSON-RPC code of an error; 0 for a result.</summary>
        public int Code { get; }

        public string Message { get; }

        /// <summary>The error's data; null when it has none.</summary>
        public JToken? Data { get; }

        /// <summary>True ends the connection behind the answer.</summary>
        public bool Closes { get; private set; }

        /// <summary>Runs once the answer was written; never when the connection was gone by then.</summary>
        public Action? Afterwards { get; private set; }

        public static Answer Result(JToken result) => new Answer(result, 0, "", null);

        public static Answer Error(int code, string message, JToken? data = null) => new Answer(null, code, message, data);

        public Answer AndClose()
        {
            Closes = true;
            return this;
        }

        public Answer Then(Action afterwards)
        {
            Afterwards = afterwards;
            return this;
        }
    }

    /// <summary>Handles the requests of a server; knows the methods.</summary>
    public interface IRequestHandler
    {
        /// <summary>
        /// Handles one request, on the connection's reading thread. Answers once through <paramref name="reply"/>, now
        /// or later, from any thread and in any order. Must not block on the main thread.
        /// </summary>
        /// <param name="parameters">As they came; null when the request had none.</param>
        void Handle(IPeer peer, string method, JToken? parameters, Action<Answer> reply);

        /// <summary>
        /// Takes one notification, on the connection's reading thread; one that is not known is ignored. Must not block on
        /// the main thread.
        /// </summary>
        void Notified(IPeer peer, string method, JToken? parameters);

        /// <summary>The connection is gone. Called once for each connection.</summary>
        void Closed(IPeer peer);
    }
}
