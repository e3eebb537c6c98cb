#nullable enable
using System.IO;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// Reads strict JSON: no comments, constructors, single quotes, unquoted names or NaN. Dates
    /// stay strings. Nesting is bounded, so that no later walk over the value can run out of stack.
    /// </summary>
    internal sealed class StrictJsonReader : JsonTextReader
    {
        public const int MaxLevels = 128;

        private bool atId;
        private bool passing;

        public StrictJsonReader(string text)
            : base(new StringReader(text))
        {
            DateParseHandling = DateParseHandling.None;
            // Depth is counted in Read, to distinguish "too deep" from "not JSON".
            MaxDepth = null;
        }

        /// <summary>The top level's `id` if it was read already.</summary>
        public JToken? Id { get; private set; }

        public override bool Read()
        {
            // A fractional id must be echoed digit by digit; other numbers are doubles.
            FloatParseHandling = atId ? FloatParseHandling.Decimal : FloatParseHandling.Double;
            if (!base.Read()) return false;
            var strict = TokenType switch
            {
                JsonToken.Comment => false,
                JsonToken.Undefined => false,
                JsonToken.StartConstructor => false,
                JsonToken.PropertyName => QuoteChar == '"',
                JsonToken.String => QuoteChar == '"',
                JsonToken.Float => !(Value is double number) || !(double.IsNaN(number) || double.IsInfinity(number)),
                _ => true,
            };
            if (!strict) throw new JsonReaderException("not JSON");
            if (atId && Depth == 1) Id = Value is null ? null : new JValue(Value);
            atId = TokenType == JsonToken.PropertyName && Depth == 1 && (string?)Value == "id";
            var opens = TokenType == JsonToken.StartObject || TokenType == JsonToken.StartArray;
            if (!passing && (opens ? Depth + 1 : Depth) > MaxLevels) throw new TooDeepException();
            return true;
        }

        /// <summary>
        /// Looks for the `id` after a value that is too deep, so that the error reaches its request. Gives up at ten
        /// times the limit, because reading on could take seconds.
        /// </summary>
        public JToken? FindId()
        {
            passing = true;
            try
            {
                while (Depth < 10 * MaxLevels && Read())
                {
                    // Only passed over: the value is never built.
                }
                return Id;
            }
            catch (JsonException)
            {
                return null;
            }
        }

        internal sealed class TooDeepException : JsonException
        {
        }
    }
}
