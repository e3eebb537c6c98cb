#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Window
{
    /// <summary>The newest requests and answers, without secrets, for the window. Any thread.</summary>
    public sealed class McpCommunicationLog
    {
        public const int DefaultCapacity = 200;
        public const int DefaultTextLimit = 2000;

        /// <summary>What of it survives a domain reload.</summary>
        private const int Kept = 50;

        private readonly object gate = new object();
        private readonly IClock clock;
        private readonly int capacity;
        private readonly int textLimit;
        private readonly Queue<CommunicationEntry> entries = new Queue<CommunicationEntry>();
        private string? saved;
        private long last;

        /// <param name="capacity">In entries.</param>
        /// <param name="textLimit">In characters of one entry.</param>
        public McpCommunicationLog(IClock clock, int capacity = DefaultCapacity, int textLimit = DefaultTextLimit)
        {
            this.clock = clock;
            this.capacity = capacity;
            this.textLimit = textLimit;
        }

        /// <summary>The number of the newest entry: another one means that there is something new to show.</summary>
        public long Last
        {
            get
            {
                lock (gate)
                {
                    ReadSaved();
                    return last;
                }
            }
        }

        /// <summary>From oldest to newest, as they are now.</summary>
        public IReadOnlyList<CommunicationEntry> Entries()
        {
            lock (gate)
            {
                ReadSaved();
                return entries.ToArray();
            }
        }

        public void Add(CommunicationKind kind, string peer, string method, JToken? body)
        {
            var text = RedactedText.Of(body, textLimit);
            lock (gate)
            {
                ReadSaved();
                Enter(new CommunicationEntry(last + 1, clock.NowMs, kind, peer, method, text));
            }
        }

        public void Clear()
        {
            lock (gate)
            {
                ReadSaved();
                entries.Clear();
            }
        }

        /// <summary>The newest entries as text, for the session store.</summary>
        public string Save()
        {
            lock (gate)
            {
                if (saved != null) return saved;
            }
            var newest = Entries();
            var rows = newest.Skip(Math.Max(0, newest.Count - Kept)).Select(entry => new JArray(
                entry.Number, entry.AtMs, (int)entry.Kind, entry.Peer, entry.Method, entry.Text));
            return new JArray(rows).ToString(Formatting.None);
        }

        /// <summary>
        /// Puts what <see cref="Save"/> gave in front; text that is something else changes nothing. It is read when the log is
        /// first used: that is a domain reload's next request, and not the reload.
        /// </summary>
        public void Restore(string? text)
        {
            lock (gate) saved = text;
        }

        private void ReadSaved()
        {
            var text = saved;
            saved = null;
            if (string.IsNullOrEmpty(text)) return;
            try
            {
                var rows = JArray.Parse(text!).Select(row => new CommunicationEntry(
                    (long)row[0]!,
                    (long)row[1]!,
                    (CommunicationKind)(int)row[2]!,
                    (string)row[3]!,
                    (string)row[4]!,
                    (string)row[5]!)).ToList();
                foreach (var row in rows) Enter(row);
            }
            catch (Exception error) when (error is JsonException || error is ArgumentException
                || error is FormatException || error is InvalidOperationException || error is OverflowException)
            {
                // Written by another version: the log begins anew.
            }
        }

        private void Enter(CommunicationEntry entry)
        {
            last = Math.Max(last, entry.Number);
            entries.Enqueue(entry);
            while (entries.Count > capacity) entries.Dequeue();
        }
    }
}
