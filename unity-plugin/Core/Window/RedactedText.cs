#nullable enable
using System;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Window
{
    /// <summary>
    /// JSON as people may see it: secrets blotted out, and no more work or memory than its limit asks for.
    /// </summary>
    internal sealed class RedactedText
    {
        private const string Blot = "***";
        private const string Cut = "…";

        private static readonly string[] SecretEndings =
        {
            "token", "authorization", "password", "secret", "apikey", "nonce", "cookie", "credential", "credentials",
            "proof", "notificationkey",
        };

        private static readonly Regex Bearer = new Regex(
            @"\bBearer\s+[A-Za-z0-9._~+/=-]+", RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);

        private readonly StringBuilder text = new StringBuilder();
        private readonly int limit;

        private RedactedText(int limit)
        {
            this.limit = limit;
        }

        private bool IsFull => text.Length >= limit;

        /// <param name="limit">In characters; longer text ends in an ellipsis.</param>
        public static string Of(JToken? token, int limit)
        {
            if (token == null) return "";
            var written = new RedactedText(limit);
            written.Write(token);
            return written.IsFull
                ? written.text.ToString(0, Math.Min(limit, written.text.Length)) + Cut
                : written.text.ToString();
        }

        private static bool IsSecret(string name)
        {
            var plain = name.Replace("_", "").Replace("-", "").ToLowerInvariant();
            // The push channel's key has no other name.
            return plain == "key" || SecretEndings.Any(ending => plain.EndsWith(ending, StringComparison.Ordinal));
        }

        private void Write(JToken token)
        {
            if (IsFull) return;
            if (token is JObject table) WriteTable(table);
            else if (token is JArray list) WriteList(list);
            // A string token may hold null.
            else if (token is JValue { Value: string words }) WriteString(words);
            else text.Append(token.ToString(Formatting.None));
        }

        private void WriteTable(JObject table)
        {
            text.Append('{');
            var isFirst = true;
            foreach (var property in table.Properties())
            {
                if (IsFull) return;
                if (!isFirst) text.Append(',');
                isFirst = false;
                WriteString(property.Name);
                text.Append(':');
                // A null hides nothing, and says that none was given.
                if (IsSecret(property.Name) && property.Value.Type != JTokenType.Null) WriteString(Blot);
                else Write(property.Value);
            }
            text.Append('}');
        }

        private void WriteList(JArray list)
        {
            text.Append('[');
            for (var at = 0; at < list.Count && !IsFull; at++)
            {
                if (at > 0) text.Append(',');
                Write(list[at]);
            }
            text.Append(']');
        }

        private void WriteString(string value)
        {
            // One character more than fits, so that the cut is seen; a secret across the cut is blotted out before it.
            var room = limit - text.Length + 1;
            var looked = value.Length > room * 2L + 4096 ? value.Substring(0, room * 2 + 4096) : value;
            var clean = Bearer.Replace(looked, "Bearer " + Blot);
            text.Append(JsonConvert.ToString(clean.Length > room ? clean.Substring(0, room) : clean));
        }
    }
}
