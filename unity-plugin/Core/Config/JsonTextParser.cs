#nullable enable
using System;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Config
{
    /// <summary>Reads JSON with comments and trailing commas, and keeps where everything stands.</summary>
    internal sealed class JsonTextParser
    {
        private const int DeepestNesting = 200;

        private readonly string text;
        private int at;
        private int depth;

        private JsonTextParser(string text)
        {
            this.text = text;
        }

        /// <summary>The text's value; null when it is empty. Throws FormatException with the line.</summary>
        public static JsonNode? Parse(string text)
        {
            var parser = new JsonTextParser(text);
            parser.SkipBlank();
            if (parser.at == text.Length) return null;
            var node = parser.Value();
            parser.SkipBlank();
            if (parser.at < text.Length) throw parser.Unexpected();
            return node;
        }

        /// <summary>Behind blanks and comments from there on.</summary>
        public static int AfterBlank(string text, int offset)
        {
            var parser = new JsonTextParser(text) { at = offset };
            parser.SkipBlank();
            return parser.at;
        }

        public static int LineAt(string text, int offset)
        {
            var line = 1;
            for (var index = 0; index < offset && index < text.Length; index++)
            {
                if (text[index] == '\n') line++;
            }
            return line;
        }

        private JsonNode Value()
        {
            if (++depth > DeepestNesting) throw Fault("nested too deeply");
            try
            {
                if (at >= text.Length) throw Fault("ends too early");
                switch (text[at])
                {
                    case '{':
                        return Table();
                    case '[':
                        return List();
                    case '"':
                        var start = at;
                        var value = String();
                        return new JsonNode(JsonKind.Text, start) { End = at, Value = value };
                    default:
                        return Literal();
                }
            }
            finally
            {
                depth--;
            }
        }

        private JsonNode Table()
        {
            var node = new JsonNode(JsonKind.Table, at++);
            while (!Closes('}', node.Properties.Count > 0))
            {
                if (text[at] != '"') throw Unexpected();
                var start = at;
                var name = String();
                SkipBlank();
                if (at >= text.Length || text[at] != ':') throw Fault("expected a colon");
                at++;
                SkipBlank();
                node.Properties.Add(new JsonProperty(name, start, Value()));
            }
            node.End = at;
            return node;
        }

        private JsonNode List()
        {
            var node = new JsonNode(JsonKind.List, at++);
            while (!Closes(']', node.Items.Count > 0)) node.Items.Add(Value());
            node.End = at;
            return node;
        }

        /// <summary>Goes to the next member, or behind the closing bracket.</summary>
        private bool Closes(char bracket, bool needsComma)
        {
            SkipBlank();
            if (at < text.Length && text[at] == ',' && needsComma)
            {
                at++;
                SkipBlank();
                needsComma = false;
            }
            if (at >= text.Length) throw Fault("ends too early");
            if (text[at] == bracket)
            {
                at++;
                return true;
            }
            if (needsComma) throw Fault("expected a comma");
            return false;
        }

        private string String()
        {
            var start = at++;
            while (at < text.Length && text[at] != '"')
            {
                if (text[at] < ' ') throw Fault("a text is not closed");
                at += text[at] == '\\' ? 2 : 1;
            }
            if (at >= text.Length) throw Fault("a text is not closed");
            at++;
            try
            {
                return JsonConvert.DeserializeObject<string>(text.Substring(start, at - start)) ?? "";
            }
            catch (JsonException)
            {
                at = start;
                throw Fault("a text has an escape that JSON does not know");
            }
        }

        private JsonNode Literal()
        {
            var start = at;
            while (at < text.Length && (char.IsLetterOrDigit(text[at]) || "+-.".IndexOf(text[at]) >= 0)) at++;
            var word = text.Substring(start, at - start);
            var isNumber = double.TryParse(
                word,
                System.Globalization.NumberStyles.Float,
                System.Globalization.CultureInfo.InvariantCulture,
                out _) && (word[0] == '-' || char.IsDigit(word[0]));
            if (isNumber || word == "true" || word == "false" || word == "null")
            {
                return new JsonNode(JsonKind.Literal, start) { End = at, Value = word };
            }
            at = start;
            throw Unexpected();
        }

        private void SkipBlank()
        {
            while (at < text.Length)
            {
                if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') at++;
                else if (Follows("//")) at = EndOf("\n", text.Length);
                else if (Follows("/*")) at = EndOf("*/", -1);
                else return;
            }
        }

        private int EndOf(string mark, int otherwise)
        {
            var found = text.IndexOf(mark, at + 2, StringComparison.Ordinal);
            if (found >= 0) return found + mark.Length;
            return otherwise >= 0 ? otherwise : throw Fault("a comment is not closed");
        }

        private bool Follows(string mark) => string.CompareOrdinal(text, at, mark, 0, mark.Length) == 0;

        private FormatException Unexpected() =>
            at < text.Length ? Fault("unexpected " + text[at]) : Fault("ends too early");

        private FormatException Fault(string reason) => new FormatException("line " + LineAt(text, at) + ": " + reason);
    }
}
