#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>What a worker sends with operation/submit.</summary>
    public sealed class Submit
    {
        public Submit(
            string operationId,
            string hash,
            string? after,
            JObject origin,
            string tool,
            JObject arguments,
            string argumentsHash,
            long acceptedAt,
            long epoch,
            string ownerNonce,
            string ledgerId)
        {
            OperationId = operationId;
            Hash = hash;
            After = after;
            Origin = origin;
            Tool = tool;
            Arguments = arguments;
            ArgumentsHash = argumentsHash;
            AcceptedAt = acceptedAt;
            Epoch = epoch;
            OwnerNonce = ownerNonce;
            LedgerId = ledgerId;
        }

        public string OperationId { get; }

        public string Hash { get; }

        /// <summary>The newest operation of the hash that the submitter knew; null when it knew none.</summary>
        public string? After { get; }

        public JObject Origin { get; }

        public string Tool { get; }

        public JObject Arguments { get; }

        public string ArgumentsHash { get; }

        /// <summary>Milliseconds since the Unix epoch, on the store's clock.</summary>
        public long AcceptedAt { get; }

        public long Epoch { get; }

        public string OwnerNonce { get; }

        public string LedgerId { get; }

        /// <summary>
        /// The parameters of operation/submit; null, and what is wrong with them, when they are not valid.
        /// </summary>
        public static Submit? Read(JToken? parameters, out string? problem)
        {
            var json = parameters as JObject ?? new JObject();
            problem = Missing(json);

            // The origin is kept as long as the operation is known: a copy does not hold the whole request with it.
            return problem != null
                ? null
                : new Submit(
                    (string)json["operationId"]!,
                    (string)json["hash"]!,
                    (string?)json["after"],
                    (JObject)json["origin"]!.DeepClone(),
                    (string)json["tool"]!,
                    (JObject)json["arguments"]!,
                    (string)json["argumentsHash"]!,
                    (long)json["acceptedAt"]!,
                    (long)json["epoch"]!,
                    (string)json["ownerNonce"]!,
                    (string)json["ledgerId"]!);
        }

        /// <summary>A new operation of this submit, for <see cref="OperationLedger.Accept"/>.</summary>
        public LedgerOperation ToOperation(bool readOnly) => new LedgerOperation(OperationId)
        {
            Hash = Hash,
            After = After,
            Origin = Origin,
            Tool = Tool,
            Arguments = Arguments,
            ArgumentsHash = ArgumentsHash,
            AcceptedAt = AcceptedAt,
            ReadOnly = readOnly,
        };

        private static string? Missing(JObject json)
        {
            foreach (var name in new[] { "operationId", "hash", "tool", "argumentsHash", "ownerNonce", "ledgerId" })
            {
                if (json[name]?.Type != JTokenType.String)
                {
                    return $"{name} must be a string.";
                }
            }

            foreach (var name in new[] { "origin", "arguments" })
            {
                if (json[name]?.Type != JTokenType.Object)
                {
                    return $"{name} must be an object.";
                }
            }

            if (json["after"]?.Type != JTokenType.String && json["after"]?.Type != JTokenType.Null)
            {
                return "after must be a string or null.";
            }

            // A whole number beyond 64 bits is an Integer too: its value is a BigInteger then.
            return IsWhole(json["acceptedAt"]) || json["acceptedAt"]?.Type == JTokenType.Float
                ? IsWhole(json["epoch"]) && (long)json["epoch"]! >= 0
                    ? null
                    : "epoch must be a whole number from 0."
                : "acceptedAt must be a number.";
        }

        private static bool IsWhole(JToken? token) => token is JValue value && value.Value is long;
    }
}
