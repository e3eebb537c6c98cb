#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>What a worker sends with operation/submit.</summary>
    public sealed class Submit
    {
        public string OperationId { get; init; } = "";

        public string Hash { get; init; } = "";

        /// <summary>The newest operation of the hash that the submitter knew; null when it knew none.</summary>
        public string? After { get; init; }

        public JObject Origin { get; init; } = new JObject();

        public string Tool { get; init; } = "";

        public JObject Arguments { get; init; } = new JObject();

        public string ArgumentsHash { get; init; } = "";

        /// <summary>Milliseconds since the Unix epoch, on the store's clock.</summary>
        public long AcceptedAt { get; init; }

        public long Epoch { get; init; }

        public string OwnerNonce { get; init; } = "";

        public string LedgerId { get; init; } = "";

        /// <summary>
        /// The parameters of operation/submit; null, and what is wrong with them, when they are not valid.
        /// </summary>
        public static Submit? Read(JToken? parameters, out string? problem)
        {
            var json = parameters as JObject ?? new JObject();
            problem = Missing(json);

            if (problem != null) return null;
            return new Submit
            {
                OperationId = (string)json["operationId"]!,
                Hash = (string)json["hash"]!,
                After = (string?)json["after"],
                // It is kept as long as the operation is known: a copy does not hold the whole request with it.
                Origin = (JObject)json["origin"]!.DeepClone(),
                Tool = (string)json["tool"]!,
                Arguments = (JObject)json["arguments"]!,
                ArgumentsHash = (string)json["argumentsHash"]!,
                AcceptedAt = (long)json["acceptedAt"]!,
                Epoch = (long)json["epoch"]!,
                OwnerNonce = (string)json["ownerNonce"]!,
                LedgerId = (string)json["ledgerId"]!,
            };
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
