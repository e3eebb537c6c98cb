#nullable enable
using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Text;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The file that names the process whose ledger it is. It outlives the lock: during a domain reload nobody holds the
    /// folder, and a second process of the project must not take it then.
    /// </summary>
    internal static class LedgerOwner
    {
        /// <summary>How far apart the same start of a process may be read, where the system has no exact stamp for it.</summary>
        private const long SameStartMs = 2000;

        /// <summary>Names this process, unless a script domain before has done it.</summary>
        public static void Write(string file)
        {
            using (var self = Process.GetCurrentProcess())
            {
                var stamp = $"{self.Id.ToString(CultureInfo.InvariantCulture)} {Stamp(self.Id)} {Dns.GetHostName()}";
                var folder = FolderOf(file);
                var known = Lines(file);
                if (known.Length == 3 && known[1] == stamp && known[2] == folder) return;
                var text = $"process {self.Id} ({self.ProcessName}), since {DateTime.UtcNow:yyyy-MM-dd HH:mm:ss} UTC\n"
                    + stamp + "\n" + folder + "\n";
                var bytes = Encoding.UTF8.GetBytes(text);
                AtomicFile.Write(file, false, stream => stream.Write(bytes, 0, bytes.Length));
            }
        }

        /// <summary>The owner for people; null where nothing can be read.</summary>
        public static string? Name(string file) => Lines(file).FirstOrDefault();

        /// <summary>
        /// Whether the file names another process that still runs. What cannot be known counts as no: another machine's, an
        /// older version's, that of a folder which this one is a copy of; the lock decides there.
        /// </summary>
        public static bool IsAnotherAlive(string file)
        {
            var lines = Lines(file);
            if (lines.Length != 3 || lines[2] != FolderOf(file)) return false;
            var words = lines[1].Split(' ');
            if (words.Length != 3 || words[2] != Dns.GetHostName()) return false;
            if (!int.TryParse(words[0], NumberStyles.None, CultureInfo.InvariantCulture, out var id)) return false;
            using (var self = Process.GetCurrentProcess())
            {
                if (id == self.Id) return false;
            }
            var now = Stamp(id);
            return now.Length > 0 && IsSame(now, words[1]);
        }

        private static string FolderOf(string file) => Path.GetDirectoryName(Path.GetFullPath(file))!;

        private static bool IsSame(string one, string other)
        {
            if (one == other) return true;
            return long.TryParse(one, NumberStyles.None, CultureInfo.InvariantCulture, out var first)
                && long.TryParse(other, NumberStyles.None, CultureInfo.InvariantCulture, out var second)
                && Math.Abs(first - second) <= SameStartMs;
        }

        /// <summary>
        /// What tells a process from a later one of the same id: on Linux "t" and the tick of its start, elsewhere the time,
        /// "unknown" where that is not shown; empty when it does not run.
        /// </summary>
        private static string Stamp(int id)
        {
            if (Directory.Exists("/proc/self")) return LinuxStamp(id);
            try
            {
                using (var process = Process.GetProcessById(id))
                {
                    if (process.HasExited) return "";
                    var start = new DateTimeOffset(process.StartTime.ToUniversalTime()).ToUnixTimeMilliseconds();
                    return start.ToString(CultureInfo.InvariantCulture);
                }
            }
            catch (ArgumentException)
            {
                return "";
            }
            catch (Exception error) when (error is InvalidOperationException || error is NotSupportedException
                || error is System.ComponentModel.Win32Exception)
            {
                return "unknown";
            }
        }

        private static string LinuxStamp(int id)
        {
            try
            {
                // "id (name) state …": the name may have anything in it. The 20th after the state is the start.
                var stat = File.ReadAllText("/proc/" + id.ToString(CultureInfo.InvariantCulture) + "/stat");
                var fields = stat.Substring(stat.LastIndexOf(')') + 2).Split(' ');
                var isDead = fields[0] == "Z" || fields[0] == "X";
                return isDead ? "" : "t" + fields[19];
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return "";
            }
        }

        private static string[] Lines(string file)
        {
            try
            {
                return File.ReadAllLines(file);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return new string[0];
            }
        }
    }
}
