#nullable enable
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    /// <summary>
    /// This broker's entry in a client's file, and whether an existing entry is ours.
    /// </summary>
    internal static class McpServerEntry
    {
        private static readonly Regex OurName = new Regex(
            @"^unity-(job-)?broker(@.*|\.cmd|\.exe)?$", RegexOptions.CultureInvariant);

        private static readonly Regex OurCheckout = new Regex(
            @"[\\/]dist[\\/]cli[\\/]main\.js$", RegexOptions.CultureInvariant);

        /// <summary>The entry in the client's own words.</summary>
        public static JObject Of(McpClient client, LaunchCommand launch) => (JObject)Fill(client.Stdio, launch);

        /// <summary>
        /// Whether an entry starts this broker or names one of its addresses. Another server of the same name must not
        /// be overwritten by mistake; ours may be in the words of an older version or of a checkout.
        /// </summary>
        public static bool IsOurs(JsonNode? entry, IReadOnlyCollection<string> addresses)
        {
            if (entry?.Kind != JsonKind.Table) return false;
            var words = Words(entry);
            if (words.Any(word => OurName.IsMatch(word.Split('\\', '/').Last()))) return true;
            if (words.Any(word => OurCheckout.IsMatch(word)) && words.Last() == "mcp") return true;
            return entry.Properties.Any(one => one.Value.Kind == JsonKind.Text && addresses.Contains(one.Value.Value));
        }

        /// <summary>
        /// The fields to write so that what is there becomes what is wanted; none when it is so already, null when the
        /// old one has to go. What the user added stays as long as the transport does.
        /// </summary>
        public static IReadOnlyList<KeyValuePair<string, JToken>>? Changes(JsonNode there, JObject wanted)
        {
            if (there.Kind != JsonKind.Table || there.Property("command") == null) return null;
            return wanted.Properties()
                .Where(one => !JsonNode.Same(there.Property(one.Name)?.Value, JsonTextParser.Parse(one.Value.ToString(Formatting.None))))
                .Select(one => new KeyValuePair<string, JToken>(one.Name, one.Value))
                .ToList();
        }

        private static List<string> Words(JsonNode entry)
        {
            var words = new List<string>();
            var command = entry.Property("command")?.Value;
            if (command?.Kind == JsonKind.Text) words.Add(command.Value);
            var arguments = entry.Property("args")?.Value;
            if (arguments?.Kind == JsonKind.List)
            {
                words.AddRange(arguments.Items.Where(item => item.Kind == JsonKind.Text).Select(item => item.Value));
            }
            return words;
        }

        private static JToken Fill(JToken template, LaunchCommand launch)
        {
            if (template is JObject table)
            {
                return new JObject(table.Properties().Select(one => new JProperty(one.Name, Fill(one.Value, launch))));
            }
            if (template.Type != JTokenType.String) return template.DeepClone();
            var text = (string)template!;
            if (text == "{args}") return new JArray(launch.Arguments);
            return text.Replace("{command}", launch.Command);
        }
    }
}
