#nullable enable
using System;
using System.IO;
using System.Text;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// JSON to UTF-8 and back without changing a value: no strings turned into dates, no limit of depth, and no
    /// recursion, so that deep nesting cannot end the process.
    /// </summary>
    internal static class LedgerJson
    {
        /// <summary>Half of a surrogate pair becomes U+FFFD, as Newtonsoft does when reading.</summary>
        public static byte[] Bytes(Action<JsonWriter> write)
        {
            var bytes = new MemoryStream();
            var writer = new JsonTextWriter(new StreamWriter(bytes, new UTF8Encoding(false)));
            write(writer);
            writer.Flush();
            return bytes.ToArray();
        }

        /// <summary>Writes a token without cloning it or changing its parent.</summary>
        public static void Copy(JToken token, JsonWriter writer)
        {
            using (var reader = token.CreateReader())
            {
                reader.MaxDepth = null;
                writer.WriteToken(reader, true);
            }
        }

        /// <summary>Throws JsonException for what is not JSON.</summary>
        public static JToken Parse(Stream utf8)
        {
            using (var text = new StreamReader(utf8, new UTF8Encoding(false)))
            using (var reader = new JsonTextReader(text))
            {
                reader.MaxDepth = null;
                reader.DateParseHandling = DateParseHandling.None;
                return JToken.ReadFrom(reader);
            }
        }

        public static JToken Parse(byte[] utf8, int offset, int count) =>
            Parse(new MemoryStream(utf8, offset, count, false));
    }
}
