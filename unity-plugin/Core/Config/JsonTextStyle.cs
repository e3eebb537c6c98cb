#nullable enable
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    /// <summary>How a JSON text is written, and values written the same way.</summary>
    internal static class JsonTextStyle
    {
        private static readonly Regex Unit = new Regex("^([ \\t]+)\"", RegexOptions.Multiline);
        private static readonly Regex Eol = new Regex("\\r?\\n");
        private static readonly Regex Blanks = new Regex("^[ \\t]*");

        public static string EolOf(string text)
        {
            var found = Eol.Match(text);
            return found.Success ? found.Value : "\n";
        }

        /// <summary>One step of the file's indentation.</summary>
        public static string UnitOf(string text)
        {
            var found = Unit.Match(text);
            return found.Success ? found.Groups[1].Value : "  ";
        }

        /// <summary>The indentation of the line on which that place is.</summary>
        public static string IndentAt(string text, int offset)
        {
            var start = offset == 0 ? 0 : text.LastIndexOf('\n', offset - 1) + 1;
            return Blanks.Match(text.Substring(start, offset - start)).Value;
        }

        /// <summary>A value over as many lines as it has members.</summary>
        public static string Spread(JToken value, string indent, string text) =>
            Written(value, indent, UnitOf(text), EolOf(text));

        /// <summary>A value on one line.</summary>
        public static string Flat(JToken value) => value is JArray list
            ? "[" + string.Join(", ", list.Select(item => item.ToString(Formatting.None))) + "]"
            : value.ToString(Formatting.None);

        public static string Written(JToken value, string indent, string unit, string eol)
        {
            var inner = indent + unit;
            IReadOnlyList<string> rows;
            if (value is JObject table)
            {
                rows = table.Properties()
                    .Select(one => JsonConvert.ToString(one.Name) + ": " + Written(one.Value, inner, unit, eol))
                    .ToList();
            }
            else if (value is JArray list)
            {
                rows = list.Select(item => Written(item, inner, unit, eol)).ToList();
            }
            else
            {
                return value.ToString(Formatting.None);
            }
            var open = value is JObject ? "{" : "[";
            var close = value is JObject ? "}" : "]";
            if (rows.Count == 0) return open + close;
            return open + string.Concat(rows.Select((row, index) => (index > 0 ? "," : "") + eol + inner + row))
                + eol + indent + close;
        }
    }
}
