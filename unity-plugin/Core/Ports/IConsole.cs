#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    public enum ConsoleLineType
    {
        Log,
        Warning,
        Error,
    }

    /// <summary>One line of the Editor's console.</summary>
    public sealed class ConsoleLine
    {
        public ConsoleLine(ConsoleLineType type, string message, string stackTrace, long atMs)
        {
            Type = type;
            Message = message;
            StackTrace = stackTrace;
            AtMs = atMs;
        }

        public ConsoleLineType Type { get; }

        public string Message { get; }

        public string StackTrace { get; }

        /// <summary>Milliseconds since the Unix epoch; 0 when it is not known.</summary>
        public long AtMs { get; }
    }

    /// <summary>The Editor's console.</summary>
    public interface IConsole
    {
        /// <summary>Raised for every new line, on whichever thread wrote it.</summary>
        event Action<ConsoleLine> LineWritten;

        /// <summary>
        /// The newest entries of the Editor's own Console, oldest first, when it may have some that <see cref="LineWritten"/>
        /// did not tell: once in each script domain, and after each compilation. Null otherwise, and where they cannot be
        /// read. Main thread only.
        /// </summary>
        IReadOnlyList<ConsoleLine>? TakeEntries(int most);

        /// <summary>Empties the console and answers how many lines it had. Main thread only.</summary>
        int Clear();
    }
}
