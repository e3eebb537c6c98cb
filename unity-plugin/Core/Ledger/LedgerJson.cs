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
        public static byte[] Bytes(JToken token) => Bytes(writer => Copy(token, writer));

        public static byte[] Bytes(Action<JsonWriter> write)
        {
            try
            {
                return Encode(write, StringEscapeHandling.Default);
            }
            catch (EncoderFallbackException)
            {
                // Half of a surrogate pair has no UTF-8, but it has an escape.
                return Encode(write, StringEscapeHandling.EscapeNonAscii);
            }
        }

        /// <summary>Writes a token that belongs to somebody else: neither cloned nor given another parent.</summary>
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

        private static byte[] Encode(Action<JsonWriter> write, StringEscapeHandling escapes)
        {
            var bytes = new MemoryStream();
            var text = new StreamWriter(bytes, new UTF8Encoding(false, true));
            var writer = new JsonTextWriter(text) { StringEscapeHandling = escapes };
            write(writer);
            writer.Flush();
            return bytes.ToArray();
        }
    }
}
