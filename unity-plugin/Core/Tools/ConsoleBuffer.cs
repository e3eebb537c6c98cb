#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools
{
    /// <summary>The newest lines of the console, kept by the bridge so that they can be read while the main thread is blocked.</summary>
    public sealed class ConsoleBuffer : IDisposable
    {
        private readonly IConsole console;
        private readonly int capacity;
        private readonly Queue<ConsoleLine> lines = new Queue<ConsoleLine>();

        public ConsoleBuffer(IConsole console, int capacity = 1000)
        {
            this.console = console;
            this.capacity = capacity;
            console.LineWritten += Add;
        }

        /// <summary>The lines from oldest to newest, as they are now.</summary>
        public IReadOnlyList<ConsoleLine> Lines()
        {
            lock (lines) return lines.ToArray();
        }

        public void Clear()
        {
            lock (lines) lines.Clear();
        }

        public void Dispose() => console.LineWritten -= Add;

        private void Add(ConsoleLine line)
        {
            lock (lines)
            {
                lines.Enqueue(line);
                if (lines.Count > capacity) lines.Dequeue();
            }
        }
    }
}
