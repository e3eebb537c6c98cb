#nullable enable
using Newtonsoft.Json;
using Newtonsoft.Json.Converters;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// How the values of tools become JSON: property names as they are, enums as words, times left alone.
    /// </summary>
    public static class ToolJson
    {
        /// <summary>Makes JSON of a value; throws JsonException for one that contains itself. Any thread.</summary>
        public static JToken From(object? value)
        {
            if (value == null) return JValue.CreateNull();
            return value as JToken ?? JToken.FromObject(value, Serializer());
        }

        /// <summary>Writes the same without making tokens of it: results may be large.</summary>
        public static void Write(object? value, JsonWriter writer) => Serializer().Serialize(writer, value);

        /// <summary>Reads what <see cref="From"/> made; null when it is not there or something else.</summary>
        public static T? Read<T>(JToken? token)
            where T : class
        {
            if (token == null || token.Type == JTokenType.Null) return null;
            try
            {
                return token.ToObject<T>(Serializer());
            }
            catch (JsonException)
            {
                return null;
            }
        }

        private static JsonSerializer Serializer()
        {
            var serializer = new JsonSerializer
            {
                DateParseHandling = DateParseHandling.None,
                NullValueHandling = NullValueHandling.Ignore,
                MaxDepth = 64,
            };
            serializer.Converters.Add(new StringEnumConverter());
            return serializer;
        }
    }
}
