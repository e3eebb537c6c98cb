#nullable enable
using System.Linq;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.Parameters
{
    /// <summary>
    /// The <c>parameterSchema</c> that plain uLoop clients read, made from the JSON Schema of a tool.
    /// </summary>
    public static class PlainParameterSchema
    {
        /// <summary>
        /// Properties with Type, Description, DefaultValue and Enum, and the names of the required ones.
        /// </summary>
        public static JObject Of(JObject inputSchema)
        {
            var properties = new JObject();
            foreach (var property in (inputSchema["properties"] as JObject ?? new JObject()).Properties())
            {
                properties[property.Name] = Property(property.Value as JObject ?? new JObject());
            }
            var required = inputSchema["required"] as JArray ?? new JArray();
            return new JObject { ["Properties"] = properties, ["Required"] = required.DeepClone() };
        }

        private static JObject Property(JObject schema) => new JObject
        {
            ["Type"] = Word(schema["type"]),
            ["Description"] = schema["description"]?.DeepClone() ?? "",
            ["DefaultValue"] = schema["default"]?.DeepClone() ?? JValue.CreateNull(),
            ["Enum"] = schema["enum"]?.DeepClone() ?? JValue.CreateNull(),
        };

        /// <summary>Those clients know no integers and take an unknown word for text.</summary>
        private static string Word(JToken? type)
        {
            var word = type is JArray several ? several.FirstOrDefault(one => (string?)one != "null") : type;
            switch ((string?)word)
            {
                case null:
                    return "object";
                case "integer":
                    return "number";
                default:
                    return (string)word!;
            }
        }
    }
}
