#nullable enable
using System;

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

        /// <summary>Milliseconds since the Unix epoch.</summary>
        public long AtMs { get; }
    }

    /// <summary>The Editor's console.</summary>
    public interface IConsole
    {
        /// <summary>Raised for every new line, on whichever thread wrote it.</summary>
        event Action<ConsoleLine> LineWritten;

        /// <summary>Empties the console and answers how many lines it had. Main thread only.</summary>
        int Clear();
    }
}
