#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// The newest lines of the console, kept by the bridge so that they can be read while the main thread is blocked: those
    /// that the Editor's own Console had when it was last copied, and those written since. Any thread, but for
    /// <see cref="Refresh"/> and <see cref="SaveTo"/>.
    /// </summary>
    public sealed class ConsoleBuffer : IDisposable
    {
        private const string TimesKey = "JobBroker.ConsoleTimes";

        private readonly IConsole console;
        private readonly int capacity;
        private readonly LinkedList<ConsoleLine> lines = new LinkedList<ConsoleLine>();

        /// <summary>When the lines of the script domain before were written: the Editor's Console does not tell.</summary>
        private List<KeyValuePair<ulong, long>> timesBefore = new List<KeyValuePair<ulong, long>>();
        private long added;
        private long? asOfMs;

        /// <param name="store">Keeps the times of the lines over a domain reload; null keeps none.</param>
        public ConsoleBuffer(IConsole console, ISessionStore? store = null, int capacity = 1000)
        {
            this.console = console;
            this.capacity = capacity;
            if (store != null) timesBefore = TimesIn(store.Get(TimesKey) ?? "");
            console.LineWritten += Add;
        }

        /// <summary>The lines from oldest to newest, as they are now.</summary>
        /// <param name="asOf">When the Editor's Console was last copied, in milliseconds since the Unix epoch; null: never.</param>
        public IReadOnlyList<ConsoleLine> Lines(out long? asOf)
        {
            lock (lines)
            {
                asOf = asOfMs;
                return lines.ToArray();
            }
        }

        public void Clear()
        {
            lock (lines)
            {
                lines.Clear();
                timesBefore.Clear();
            }
        }

        /// <summary>Copies the Editor's Console when it has what was not told line by line. Main thread only.</summary>
        public void Refresh(long nowMs)
        {
            long mark;
            lock (lines) mark = added;
            var entries = console.TakeEntries(capacity);
            if (entries == null) return;
            lock (lines) Replace(entries, (int)Math.Min(added - mark, lines.Count), nowMs);
        }

        /// <summary>The script domain ends. Main thread only.</summary>
        public void SaveTo(ISessionStore store)
        {
            lock (lines) store.Set(TimesKey, string.Join(";", lines.Select(line => Written(KeyOf(line)) + ":" + Written((ulong)line.AtMs))));
        }

        public void Dispose() => console.LineWritten -= Add;

        private void Add(ConsoleLine line)
        {
            lock (lines)
            {
                added++;
                lines.AddLast(line);
                if (lines.Count > capacity) lines.RemoveFirst();
            }
        }

        /// <param name="newest">How many of the last lines were written while the entries were read, which may lack them.</param>
        private void Replace(IReadOnlyList<ConsoleLine> entries, int newest, long nowMs)
        {
            var missing = MissingIn(entries, lines.Count - newest);
            // Of lines with the same text the newest is on top, as the entries are gone through from the newest on.
            var times = new Dictionary<ulong, Stack<long>>();
            foreach (var time in timesBefore) Push(times, time.Key, time.Value);
            foreach (var line in lines.Except(missing)) Push(times, KeyOf(line), line.AtMs);
            timesBefore = new List<KeyValuePair<ulong, long>>();

            var copied = new LinkedList<ConsoleLine>();
            var next = nowMs;
            foreach (var entry in entries.Reverse())
            {
                var at = times.TryGetValue(KeyOf(entry), out var known) && known.Count > 0 ? known.Pop() : next;
                next = Math.Min(next, at);
                copied.AddFirst(new ConsoleLine(entry.Type, entry.Message, entry.StackTrace, at));
            }
            foreach (var line in missing) copied.AddLast(line);
            lines.Clear();
            foreach (var line in copied.Skip(Math.Max(0, copied.Count - capacity))) lines.AddLast(line);
            asOfMs = nowMs;
        }

        /// <summary>The lines from an index on that the entries do not have yet.</summary>
        private List<ConsoleLine> MissingIn(IReadOnlyList<ConsoleLine> entries, int from)
        {
            var late = lines.Skip(from).ToList();
            var surplus = new Dictionary<ulong, int>();
            foreach (var line in late) surplus[KeyOf(line)] = 0;
            foreach (var entry in entries) Change(surplus, KeyOf(entry), 1);
            foreach (var line in lines.Take(from)) Change(surplus, KeyOf(line), -1);
            return late.Where(line => Change(surplus, KeyOf(line), -1) < 0).ToList();
        }

        private static int Change(Dictionary<ulong, int> counts, ulong key, int by) =>
            counts.TryGetValue(key, out var count) ? counts[key] = count + by : 0;

        private static void Push(Dictionary<ulong, Stack<long>> times, ulong key, long at)
        {
            if (!times.TryGetValue(key, out var stack)) times[key] = stack = new Stack<long>();
            stack.Push(at);
        }

        /// <summary>FNV-1a of type and text: the same in every script domain.</summary>
        private static ulong KeyOf(ConsoleLine line)
        {
            var hash = 14695981039346656037UL;
            foreach (var letter in line.Message.TrimEnd()) hash = (hash ^ letter) * 1099511628211UL;
            return (hash ^ (ulong)line.Type) * 1099511628211UL;
        }

        private static string Written(ulong number) => number.ToString("x", CultureInfo.InvariantCulture);

        private static List<KeyValuePair<ulong, long>> TimesIn(string saved)
        {
            var times = new List<KeyValuePair<ulong, long>>();
            foreach (var pair in saved.Split(';'))
            {
                var parts = pair.Split(':');
                if (parts.Length == 2
                    && ulong.TryParse(parts[0], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var key)
                    && ulong.TryParse(parts[1], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var at))
                {
                    times.Add(new KeyValuePair<ulong, long>(key, (long)at));
                }
            }
            return times;
        }
    }
}
