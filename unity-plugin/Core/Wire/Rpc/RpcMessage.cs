#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Wire
{
    public enum RpcKind
    {
        Request,
        Notification,
        Result,
        Error,

        /// <summary>No message at all; <see cref="RpcMessage.Error"/> is what to answer.</summary>
        Invalid,
    }

    /// <summary>A JSON-RPC error as sent on the wire.</summary>
    public sealed class RpcError
    {
        public RpcError(int code, string message, JToken? data = null)
        {
            Code = code;
            Message = message;
            Data = data;
        }

        public int Code { get; }

        public string Message { get; }

        public JToken? Data { get; }
    }

    /// <summary>One JSON-RPC message as plain values.</summary>
    public sealed class RpcMessage
    {
        private RpcMessage(RpcKind kind, JToken? id, string method, JToken? value, RpcError? error)
        {
            Kind = kind;
            Id = id;
            Method = method;
            Value = value;
            Error = error;
        }

        public RpcKind Kind { get; }

        /// <summary>A string or a number exactly as it came; null where there is none.</summary>
        public JToken? Id { get; }

        /// <summary>Empty for what is no request or notification.</summary>
        public string Method { get; }

        /// <summary>The parameters of a request, null when it had none; the result of a response.</summary>
        public JToken? Value { get; }

        public RpcError? Error { get; }

        internal static RpcMessage Request(JToken id, string method, JToken? parameters) =>
            new RpcMessage(RpcKind.Request, id, method, parameters, null);

        internal static RpcMessage Notification(string method, JToken? parameters) =>
            new RpcMessage(RpcKind.Notification, null, method, parameters, null);

        internal static RpcMessage Result(JToken id, JToken result) =>
            new RpcMessage(RpcKind.Result, id, "", result, null);

        internal static RpcMessage Failure(JToken? id, RpcError error) =>
            new RpcMessage(RpcKind.Error, id, "", null, error);

        internal static RpcMessage Invalid(JToken? id, int code, string message) =>
            new RpcMessage(RpcKind.Invalid, id, "", null, new RpcError(code, message));
    }
}
