#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// Cuts a journal where its good lines end, before anything is appended. What is cut is kept beside it, in
    /// ledger.cut-&lt;n&gt;, for people.
    /// </summary>
    internal static class JournalRepair
    {
        private const int KeptFiles = 5;

        private const string CutName = "ledger.cut-";

        /// <summary>Cuts an unfinished last line, as a power cut leaves it.</summary>
        public static void CutTail(string path, JournalReading reading, ICollection<string> notices)
        {
            KeepAside(path, reading, notices);
            using (var stream = new DiskFile(path, FileMode.Open, FileAccess.Write, FileShare.Read))
            {
                stream.SetLength(reading.GoodBytes);
                stream.Flush(true);
            }
        }

        /// <summary>
        /// Cuts at a damaged line and gives the ledger a new id, in one step: durable entries may be gone, and with the
        /// old id no worker could notice.
        /// </summary>
        public static void CutDamage(
            string path, JournalReading reading, JournalEntry opened, ICollection<string> notices)
        {
            KeepAside(path, reading, notices);
            var line = JournalLine.Encode(opened);
            AtomicFile.Write(path, true, stream =>
            {
                Copy(path, 0, reading.GoodBytes, stream);
                stream.Write(line, 0, line.Length);
            });
            notices.Add(
                "The ledger was damaged. It has a new id, so that brokers call operations interrupted whose outcome "
                + "they have not stored yet.");
        }

        private static void KeepAside(string path, JournalReading reading, ICollection<string> notices)
        {
            var folder = Path.GetDirectoryName(path)!;
            var kept = Numbers(folder);
            var next = kept.LastOrDefault() + 1;
            var aside = Path.Combine(folder, CutName + next.ToString(CultureInfo.InvariantCulture));
            AtomicFile.Write(
                aside, true, stream => Copy(path, reading.GoodBytes, reading.TotalBytes - reading.GoodBytes, stream));
            notices.Add(
                $"The ledger's last {reading.TotalBytes - reading.GoodBytes} bytes are not what was written. They were "
                + $"cut off and kept in {aside}.");
            foreach (var number in kept.Take(Math.Max(0, kept.Count + 1 - KeptFiles)))
            {
                var oldest = Path.Combine(folder, CutName + number.ToString(CultureInfo.InvariantCulture));
                if (AtomicFile.TryDelete(oldest))
                {
                    notices.Add($"{oldest} was removed: only the last {KeptFiles} of its kind are kept.");
                }
            }
        }

        private static List<int> Numbers(string folder) =>
            Directory.GetFiles(folder, CutName + "*")
                .Select(file => Path.GetFileName(file).Substring(CutName.Length))
                .Select(text => int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var n) ? n : 0)
                .Where(number => number > 0)
                .OrderBy(number => number)
                .ToList();

        private static void Copy(string path, long from, long length, Stream target)
        {
            using (var source = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite))
            {
                source.Position = from;
                var block = new byte[64 * 1024];
                while (length > 0)
                {
                    var read = source.Read(block, 0, (int)Math.Min(block.Length, length));
                    if (read == 0)
                    {
                        throw new EndOfStreamException($"{path} became shorter while it was read.");
                    }

                    target.Write(block, 0, read);
                    length -= read;
                }
            }
        }
    }
}
