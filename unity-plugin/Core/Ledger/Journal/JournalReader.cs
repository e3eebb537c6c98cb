#nullable enable
using System;
using System.IO;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>What reading a journal back found.</summary>
    internal sealed class JournalReading
    {
        public int Lines { get; set; }

        /// <summary>Length of the lines that are what was written; everything behind must be cut.</summary>
        public long GoodBytes { get; set; }

        public long TotalBytes { get; set; }

        /// <summary>
        /// A complete line is damaged, not just a torn tail: durable and reported entries may be lost.
        /// </summary>
        public bool LostLines { get; set; }
    }

    /// <summary>Reads a journal back, line by line, up to the first that is not what was written.</summary>
    internal static class JournalReader
    {
        private const int BlockBytes = 64 * 1024;

        /// <summary>Applies every good line to <paramref name="content"/>. A missing file is an empty one.</summary>
        public static JournalReading Read(string path, LedgerContent content)
        {
            var reading = new JournalReading();
            if (!File.Exists(path))
            {
                return reading;
            }

            using (var stream = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, BlockBytes))
            {
                reading.TotalBytes = stream.Length;
                var block = new byte[BlockBytes];
                var line = new MemoryStream();
                for (int read; (read = stream.Read(block, 0, block.Length)) > 0;)
                {
                    if (!TakeBlock(block, read, line, content, reading))
                    {
                        reading.LostLines = true;
                        break;
                    }
                }
            }

            return reading;
        }

        /// <summary>False at a finished line that is not what was written.</summary>
        private static bool TakeBlock(
            byte[] block, int length, MemoryStream line, LedgerContent content, JournalReading reading)
        {
            for (var start = 0; start < length;)
            {
                var end = Array.IndexOf(block, JournalLine.End, start, length - start);
                line.Write(block, start, (end < 0 ? length : end) - start);
                if (end < 0)
                {
                    return true;
                }

                var entry = JournalLine.Decode(line.GetBuffer(), (int)line.Length);
                if (entry == null || (reading.Lines > 0 && entry.Seq != content.Seq + 1))
                {
                    return false;
                }

                content.Apply(entry);
                reading.Lines++;
                reading.GoodBytes += line.Length + 1;
                line.SetLength(0);
                start = end + 1;
            }

            return true;
        }
    }
}
