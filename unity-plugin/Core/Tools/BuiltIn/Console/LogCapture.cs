#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// The console lines written while a call runs, each reported as a partial result at once. Any thread.
    /// </summary>
    internal sealed class LogCapture : IDisposable
    {
        private const int MostLines = 1000;
        private const int LinesInPartialResult = 100;

        private readonly IConsole console;
        private readonly IProgressSink progress;
        private readonly List<string> lines = new List<string>();
        private int written;

        public LogCapture(IConsole console, IProgressSink progress)
        {
            this.console = console;
            this.progress = progress;
            progress.Report(1, 2, "Running the code");
            console.LineWritten += Add;
        }

        /// <summary>The lines so far; of very many the first ones, and how many there were more.</summary>
        public IReadOnlyList<string> Lines()
        {
            lock (lines)
            {
                var left = written - lines.Count;
                if (left == 0) return lines.ToArray();
                return lines.Append($"... and {left} more; get-logs has the newest.").ToArray();
            }
        }

        public void Dispose() => console.LineWritten -= Add;

        private void Add(ConsoleLine line)
        {
            lock (lines)
            {
                written++;
                if (lines.Count >= MostLines) return;
                lines.Add(line.Type == ConsoleLineType.Log ? line.Message : $"{line.Type}: {line.Message}");
                var newest = lines.Skip(Math.Max(0, lines.Count - LinesInPartialResult)).ToArray();
                progress.Report(2 - (1.0 / (written + 1)), 2, "Running the code", new { Logs = newest });
            }
        }
    }
}
