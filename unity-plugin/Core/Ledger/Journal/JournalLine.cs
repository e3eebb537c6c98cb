#nullable enable
using System;
using System.IO;
using System.Text;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>One line of the journal as bytes: eight digits of CRC-32, a space, JSON, a line feed.</summary>
    internal static class JournalLine
    {
        public const byte End = (byte)'\n';

        private const int JsonAt = 9;

        public static byte[] Encode(JournalEntry entry)
        {
            var json = LedgerJson.Bytes(writer => JournalEntryJson.Write(writer, entry));
            var line = new byte[JsonAt + json.Length + 1];
            Encoding.ASCII.GetBytes(Crc32.Of(json, 0, json.Length), 0, JsonAt - 1, line, 0);
            line[JsonAt - 1] = (byte)' ';
            Buffer.BlockCopy(json, 0, line, JsonAt, json.Length);
            line[line.Length - 1] = End;
            return line;
        }

        /// <summary>
        /// The entry of a line without its line feed; null when it is not what was written.
        ///
        /// A line whose checksum fits was written by a bridge: what this version does not understand in it throws
        /// LedgerUnavailableException, because leaving it out could run something again.
        /// </summary>
        public static JournalEntry? Decode(byte[] line, int length)
        {
            if (length < JsonAt || line[JsonAt - 1] != (byte)' '
                || Encoding.ASCII.GetString(line, 0, JsonAt - 1) != Crc32.Of(line, JsonAt, length - JsonAt))
            {
                return null;
            }

            try
            {
                var json = (JObject)LedgerJson.Parse(line, JsonAt, length - JsonAt);
                return JournalEntryJson.Read(json) ?? throw NotUnderstood(null);
            }
            catch (Exception error) when (error is JsonException || error is InvalidCastException
                || error is ArgumentException || error is NullReferenceException || error is FormatException
                || error is InvalidOperationException || error is OverflowException)
            {
                throw NotUnderstood(error);
            }
        }

        private static LedgerUnavailableException NotUnderstood(Exception? cause) =>
            new LedgerUnavailableException(
                "The ledger has a line that this version does not understand; a newer version of the bridge wrote it. "
                + "Install that version again. Moving the ledger's folder away starts a new one, and operations whose "
                + "outcome is open become interrupted.",
                cause);
    }
}
