#nullable enable
using System.Globalization;
using System.IO;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// JSON-RPC 2.0 as text and as plain values (https://www.jsonrpc.org/specification). Batches are refused.
    /// </summary>
    public static class JsonRpcProcessor
    {
        private static readonly JsonLoadSettings LastOneWins = new JsonLoadSettings
        {
            DuplicatePropertyNameHandling = DuplicatePropertyNameHandling.Replace,
        };

        /// <summary>
        /// Reads one message; never throws: an unreadable one is `Invalid`, with the error to answer.
        /// </summary>
        public static RpcMessage Parse(string text)
        {
            JToken value;
            using (var reader = new StrictJsonReader(text))
            {
                try
                {
                    value = JToken.ReadFrom(reader, LastOneWins);
                    if (reader.Read()) return NotJson();
                }
                catch (StrictJsonReader.TooDeepException)
                {
                    var levels = StrictJsonReader.MaxLevels.ToString(CultureInfo.InvariantCulture);
                    return Refused(IdOf(reader.FindId()), "nested deeper than " + levels + " levels");
                }
                catch (JsonException)
                {
                    return NotJson();
                }
            }
            if (value is JArray) return Refused(null, "batches are not supported");
            return value is JObject message ? Classify(message) : Refused(null, "not a JSON-RPC message");
        }

        public static string Request(JToken id, string method, JToken? parameters) =>
            Text(("id", id), ("method", method), ("params", parameters));

        public static string Notification(string method, JToken? parameters) =>
            Text(("method", method), ("params", parameters));

        public static string Result(JToken id, JToken result) => Text(("id", id), ("result", result));

        /// <summary>An error; a null id belongs to no request.</summary>
        public static string Failure(JToken? id, RpcError error)
        {
            var body = new JObject { ["code"] = error.Code, ["message"] = error.Message };
            if (error.Data != null) body["data"] = error.Data.DeepClone();
            return Text(("id", id ?? JValue.CreateNull()), ("error", body));
        }

        private static RpcMessage Classify(JObject message)
        {
            var id = IdOf(message["id"]);
            if (TextOf(message["jsonrpc"]) != "2.0") return Refused(id, "jsonrpc must be \"2.0\"");
            if (TextOf(message["method"]) is { } method)
            {
                var parameters = message["params"];
                if (message["id"] == null) return RpcMessage.Notification(method, parameters);
                return id == null
                    ? Refused(null, "id must be a string or a number")
                    : RpcMessage.Request(id, method, parameters);
            }
            if (ErrorOf(message["error"]) is { } error) return RpcMessage.Failure(id, error);
            if (id != null && message["result"] is { } result) return RpcMessage.Result(id, result);
            return Refused(id, "neither a request nor a response");
        }

        private static RpcError? ErrorOf(JToken? token)
        {
            if (!(token is JObject error) || !(TextOf(error["message"]) is { } message)) return null;
            // A code beyond 32 bits is still an error; only its number is lost.
            return error["code"] is JValue { Type: JTokenType.Integer, Value: long code }
                ? new RpcError(code == (int)code ? (int)code : ErrorCodes.InternalError, message, error["data"])
                : null;
        }

        private static JToken? IdOf(JToken? token) =>
            token is { Type: JTokenType.String or JTokenType.Integer or JTokenType.Float } ? token : null;

        private static string? TextOf(JToken? token) =>
            token != null && token.Type == JTokenType.String ? (string?)token : null;

        private static RpcMessage NotJson() => RpcMessage.Invalid(null, ErrorCodes.ParseError, "not JSON");

        private static RpcMessage Refused(JToken? id, string why) =>
            RpcMessage.Invalid(id, ErrorCodes.InvalidRequest, why);

        /// <summary>
        /// Written member by member: a token put into an object would be copied, or changed under another thread.
        /// </summary>
        private static string Text(params (string Name, JToken? Value)[] members)
        {
            using var text = new StringWriter(CultureInfo.InvariantCulture);
            using (var writer = new JsonTextWriter(text))
            {
                writer.WriteStartObject();
                writer.WritePropertyName("jsonrpc");
                writer.WriteValue("2.0");
                foreach (var (name, value) in members)
                {
                    if (value == null) continue;
                    writer.WritePropertyName(name);
                    value.WriteTo(writer);
                }
                writer.WriteEndObject();
            }
            return text.ToString();
        }
    }
}
