#nullable enable
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// Operations and outcomes as a journal's lines hold them: the shape that the simulator writes too.
    /// </summary>
    internal static class OperationJson
    {
        public static void Write(JsonWriter writer, LedgerOperation operation)
        {
            writer.WriteStartObject();
            Text(writer, "operationId", operation.OperationId);
            Text(writer, "state", operation.State);
            if (operation.Hash != null)
            {
                Text(writer, "hash", operation.Hash);
                writer.WritePropertyName("after");
                writer.WriteValue(operation.After);
            }

            Token(writer, "origin", operation.Origin);
            Text(writer, "tool", operation.Tool);
            Token(writer, "arguments", operation.Arguments);
            Text(writer, "argumentsHash", operation.ArgumentsHash);
            Number(writer, "acceptedAt", operation.AcceptedAt);
            Number(writer, "startedAt", operation.StartedAt);
            if (operation.Outcome != null)
            {
                writer.WritePropertyName("outcome");
                Write(writer, operation.Outcome, operation.StoredResult);
            }

            Number(writer, "acknowledgedAt", operation.AcknowledgedAt);
            writer.WritePropertyName("readOnly");
            writer.WriteValue(operation.ReadOnly);
            writer.WriteEndObject();
        }

        public static void Write(JsonWriter writer, Outcome outcome, StoredResult? stored)
        {
            writer.WriteStartObject();
            Text(writer, "status", outcome.Status);
            if (outcome.Result != null)
            {
                writer.WritePropertyName("result");
                writer.WriteRawValue(outcome.Result.ToString());
            }

            if (stored != null)
            {
                Number(writer, "resultBytes", stored.Bytes);
                Text(writer, "resultCrc", stored.Crc);
            }

            if (outcome.ErrorType != null)
            {
                writer.WritePropertyName("error");
                writer.WriteStartObject();
                Text(writer, "type", outcome.ErrorType);
                Text(writer, "message", outcome.ErrorMessage ?? "");
                Text(writer, "stack", outcome.Stack);
                writer.WriteEndObject();
            }

            Number(writer, "startedAt", outcome.StartedAt);
            Number(writer, "endedAt", outcome.EndedAt);
            Number(writer, "executionMs", outcome.EndedAt - outcome.StartedAt);
            Token(writer, "endedIn", outcome.EndedIn);
            writer.WriteEndObject();
        }

        public static LedgerOperation Read(JObject json)
        {
            var operation = new LedgerOperation((string)json["operationId"]!)
            {
                State = (string)json["state"]!,
                Hash = (string?)json["hash"],
                After = (string?)json["after"],
                Origin = Take(json, "origin") as JObject,
                Tool = (string?)json["tool"],
                Arguments = Take(json, "arguments") as JObject,
                ArgumentsHash = (string?)json["argumentsHash"],
                AcceptedAt = (long?)json["acceptedAt"],
                StartedAt = (long?)json["startedAt"],
                AcknowledgedAt = (long?)json["acknowledgedAt"],
                ReadOnly = (bool?)json["readOnly"] ?? false,
            };
            if (json["outcome"] is JObject outcome)
            {
                LedgerContent.End(operation, ReadOutcome(outcome), ReadStored(operation.OperationId, outcome));
            }

            return operation;
        }

        public static Outcome ReadOutcome(JObject json)
        {
            var error = json["error"];
            return new Outcome(
                (string)json["status"]!,
                Take(json, "result") is { } result ? JsonText.Of(result) : null,
                (string?)error?["type"],
                (string?)error?["message"],
                (string?)error?["stack"],
                (long?)json["startedAt"],
                (long)json["endedAt"]!,
                Take(json, "endedIn") as JObject);
        }

        /// <summary>Null where the result stands in the outcome itself, or there is none.</summary>
        public static StoredResult? ReadStored(string operationId, JObject outcome)
        {
            var bytes = (long?)outcome["resultBytes"];
            return bytes == null
                ? null
                : new StoredResult(ResultName.Of(operationId), bytes.Value, (string?)outcome["resultCrc"] ?? "");
        }

        /// <summary>What is kept must not keep the whole line, or snapshot, that it stood in.</summary>
        private static JToken? Take(JObject json, string name)
        {
            var token = json[name];
            json.Remove(name);
            return token;
        }

        public static void Text(JsonWriter writer, string name, string? value)
        {
            if (value != null)
            {
                writer.WritePropertyName(name);
                writer.WriteValue(value);
            }
        }

        public static void Number(JsonWriter writer, string name, long? value)
        {
            if (value != null)
            {
                writer.WritePropertyName(name);
                writer.WriteValue(value.Value);
            }
        }

        private static void Token(JsonWriter writer, string name, JToken? value)
        {
            if (value != null)
            {
                writer.WritePropertyName(name);
                LedgerJson.Copy(value, writer);
            }
        }
    }
}
