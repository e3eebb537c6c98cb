#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    /// <summary>
    /// Edits of single properties of a JSON text, with or without comments, that leave every other byte as it was: the
    /// same edits as the command line's, by the same cases (test/golden/client-config.json). Faults are
    /// FormatExceptions.
    /// </summary>
    internal static class JsonTextEdit
    {
        private static readonly Regex CommentsOnLine = new Regex(
            @"\G(?:[ \t]*/\*(?:(?!\*/)[^\r\n])*\*/)*(?:[ \t]*//[^\r\n]*)?(?=[ \t]*(?:\r?\n|$))");

        private static readonly Regex RestOfLine = new Regex(@"\G[ \t]*(\r?\n|$)");

        /// <summary>Writes a value at a path, making the tables on its way.</summary>
        public static string Set(string text, IReadOnlyList<string> path, JToken value)
        {
            var root = Root(text);
            if (root == null) return text + Fragment(path, value).Replace("\n", JsonTextStyle.EolOf(text));
            var there = root.At(path);
            if (there != null) return Cut(text, there.Start, there.End, Replacement(text, there, value));
            var known = path.Count - 1;
            while (root.At(path.Take(known)) == null) known--;
            var table = root.At(path.Take(known))!;
            if (table.Kind != JsonKind.Table)
            {
                var line = JsonTextParser.LineAt(text, table.Start);
                throw new FormatException("line " + line + ": " + path[known - 1] + " is not an object, { … }");
            }
            return Insert(text, table, path[known], Nested(path.Skip(known + 1), value));
        }

        /// <summary>Removes what is at a path; the table around it stays.</summary>
        public static string Remove(string text, IReadOnlyList<string> path)
        {
            var table = Root(text)?.At(path.Take(path.Count - 1));
            var property = table?.Kind == JsonKind.Table ? table.Property(path[path.Count - 1]) : null;
            return property == null ? text : Remove(text, table!, property);
        }

        /// <summary>A text of its own with only that value.</summary>
        public static string Fragment(IReadOnlyList<string> path, JToken value) =>
            JsonTextStyle.Written(Nested(path, value), "", "  ", "\n") + "\n";

        /// <summary>The text's table; null when it is empty.</summary>
        public static JsonNode? Root(string text)
        {
            var root = JsonTextParser.Parse(text);
            if (root != null && root.Kind != JsonKind.Table) throw new FormatException("line 1: expected an object, { … }");
            return root;
        }

        private static string Insert(string text, JsonNode table, string key, JToken value)
        {
            var eol = JsonTextStyle.EolOf(text);
            var name = JsonConvert.ToString(key) + ": ";
            if (table.Properties.Count == 0)
            {
                var outer = JsonTextStyle.IndentAt(text, table.Start);
                var inner = outer + JsonTextStyle.UnitOf(text);
                // What comments there are stay above.
                var from = text.Substring(0, table.End - 1).TrimEnd().Length;
                var row = eol + inner + name + JsonTextStyle.Spread(value, inner, text) + eol + outer;
                return Cut(text, from, table.End - 1, row);
            }
            var first = table.Properties[0];
            var last = table.Properties[table.Properties.Count - 1].Value;
            var comma = CommaAfter(text, last.End);
            var closing = comma < 0 ? "" : ",";
            var isFlat = text.IndexOf('\n', table.Start, first.Start - table.Start) < 0;
            var indent = JsonTextStyle.IndentAt(text, first.Start);
            var content = isFlat
                ? " " + name + value.ToString(Formatting.None) + closing
                : eol + indent + name + JsonTextStyle.Spread(value, indent, text) + closing;
            var end = comma < 0 ? last.End : comma + 1;
            var place = isFlat ? end : AfterComment(text, end);
            var inserted = text.Insert(place, content);
            return comma < 0 ? inserted.Insert(last.End, ",") : inserted;
        }

        private static string Remove(string text, JsonNode table, JsonProperty property)
        {
            var index = table.Properties.IndexOf(property);
            var comma = CommaAfter(text, property.Value.End);
            var start = text.Substring(0, property.Start).TrimEnd().Length;
            var end = comma < 0 ? property.Value.End : comma + 1;
            if (table.Properties.Count == 1)
            {
                var around = text.Substring(table.Start + 1, start - table.Start - 1)
                    + text.Substring(end, table.End - 1 - end);
                if (around.Trim().Length == 0) return Cut(text, table.Start + 1, table.End - 1, "");
            }
            var gap = text.Substring(start, property.Start - start);
            // Something follows on the same line: it must not end up behind a line comment.
            var isFollowed = !RestOfLine.IsMatch(text, end);
            var without = Cut(text, start, end, isFollowed && gap.Contains("\n") ? gap : "");
            if (index == 0 || comma >= 0) return without;
            var before = CommaAfter(text, table.Properties[index - 1].Value.End);
            return before < 0 ? without : without.Remove(before, 1);
        }

        /// <summary>A new value in the place of the old one, on one line if that was.</summary>
        private static string Replacement(string text, JsonNode node, JToken value)
        {
            var isFlat = text.IndexOf('\n', node.Start, node.End - node.Start) < 0 && !(value is JObject);
            return isFlat
                ? JsonTextStyle.Flat(value)
                : JsonTextStyle.Spread(value, JsonTextStyle.IndentAt(text, node.Start), text);
        }

        private static JToken Nested(IEnumerable<string> path, JToken value) =>
            path.Reverse().Aggregate(value, (within, key) => new JObject { [key] = within });

        /// <summary>Where the comma after a value is; -1 when the value is the last and has none.</summary>
        private static int CommaAfter(string text, int offset)
        {
            var next = JsonTextParser.AfterBlank(text, offset);
            return next < text.Length && text[next] == ',' ? next : -1;
        }

        /// <summary>Behind the comments that end on the same line: they belong to what is before them.</summary>
        private static int AfterComment(string text, int offset)
        {
            var comments = CommentsOnLine.Match(text, offset);
            return comments.Success ? offset + comments.Length : offset;
        }

        private static string Cut(string text, int start, int end, string content) =>
            text.Substring(0, start) + content + text.Substring(end);
    }
}
