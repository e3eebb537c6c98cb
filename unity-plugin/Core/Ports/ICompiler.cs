#nullable enable
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Ports
{
    public sealed class CompilerMessage
    {
        public CompilerMessage(bool isError, string message, string file, int line, int column)
        {
            IsError = isError;
            Message = message;
            File = file;
            Line = line;
            Column = column;
        }

        public bool IsError { get; }

        public string Message { get; }

        public string File { get; }

        public int Line { get; }

        public int Column { get; }
    }

    public sealed class CompileOutcome
    {
        public CompileOutcome(bool compiled, IReadOnlyList<CompilerMessage> messages, bool reloadFollows)
        {
            Compiled = compiled;
            Messages = messages;
            ReloadFollows = reloadFollows;
        }

        /// <summary>False when nothing had to be compiled.</summary>
        public bool Compiled { get; }

        public IReadOnlyList<CompilerMessage> Messages { get; }

        /// <summary>True when the Editor reloads its script domain next.</summary>
        public bool ReloadFollows { get; }
    }

    /// <summary>Script compilation. Main thread only; the task ends on the main thread, before the domain reload.</summary>
    public interface ICompiler
    {
        Task<CompileOutcome> CompileAsync(bool force, CancellationToken cancellation);

        /// <summary>
        /// Imports what has changed on the disk, also where the Editor does not do so by itself; returns the end of the compilation
        /// that follows, null when there is none.
        /// </summary>
        Task<CompileOutcome>? RefreshAsync();

        /// <summary>The end of a compilation that the Editor has begun, or is about to begin; null when there is none.</summary>
        Task<CompileOutcome>? PendingAsync();

        /// <summary>
        /// The errors of the last compilation, asked for or not; empty when there were none, or they cannot be read.
        /// </summary>
        IReadOnlyList<CompilerMessage> Errors();
    }
}
