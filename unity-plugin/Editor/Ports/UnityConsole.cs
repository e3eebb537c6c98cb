#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Ports;
using UnityEditor.Compilation;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// The Editor's console. Lines are told as they are written, on any thread; what no event tells (lines from before this
    /// script domain, the compiler's messages) is in Unity's own entries. Main thread only, but for the events.
    /// </summary>
    internal sealed class UnityConsole : IConsole, IDisposable
    {
        /// <summary>How long after a compilation the Console may still get its messages.</summary>
        private const int SettleMs = 1000;

        private readonly IClock clock;
        private readonly IBridgeLog log;
        private readonly List<ConsoleLine> compilerLines = new List<ConsoleLine>();
        private bool isStale = true;
        private bool isUnreadable;
        private long? staleAgainAt;

        public UnityConsole(IClock clock, IBridgeLog log)
        {
            this.clock = clock;
            this.log = log;
            Application.logMessageReceivedThreaded += Receive;
            CompilationPipeline.assemblyCompilationFinished += AssemblyCompiled;
            CompilationPipeline.compilationFinished += Compiled;
        }

        public event Action<ConsoleLine>? LineWritten;

        public int Clear()
        {
            var count = ConsoleEntries.Count();
            ConsoleEntries.Clear();
            // Errors of the last compilation stay in it.
            isStale = true;
            return count;
        }

        public IReadOnlyList<ConsoleLine>? TakeEntries(int most)
        {
            if (clock.ElapsedMs >= staleAgainAt)
            {
                isStale = true;
                staleAgainAt = null;
            }
            if (!isStale || isUnreadable) return null;
            isStale = false;
            try
            {
                return ConsoleEntries.Read(most);
            }
            catch (Exception error)
            {
                isUnreadable = true;
                log.Warn("get-logs has only what is written from now on: " + (error.InnerException ?? error).Message);
                return null;
            }
        }

        public void Dispose()
        {
            Application.logMessageReceivedThreaded -= Receive;
            CompilationPipeline.assemblyCompilationFinished -= AssemblyCompiled;
            CompilationPipeline.compilationFinished -= Compiled;
        }

        private void AssemblyCompiled(string path, UnityEditor.Compilation.CompilerMessage[] messages)
        {
            foreach (var message in messages)
            {
                compilerLines.Add(new ConsoleLine(TypeOf(message.type), message.message, "", clock.NowMs));
            }
        }

        private void Compiled(object context)
        {
            // Unity's entries have them; they are told here only where those cannot be read.
            if (isUnreadable) compilerLines.ForEach(line => LineWritten?.Invoke(line));
            compilerLines.Clear();
            isStale = true;
            staleAgainAt = clock.ElapsedMs + SettleMs;
        }

        private static ConsoleLineType TypeOf(CompilerMessageType type)
        {
            if (type == CompilerMessageType.Error) return ConsoleLineType.Error;
            return type == CompilerMessageType.Warning ? ConsoleLineType.Warning : ConsoleLineType.Log;
        }

        private static ConsoleLineType TypeOf(LogType type)
        {
            if (type == LogType.Log) return ConsoleLineType.Log;
            return type == LogType.Warning ? ConsoleLineType.Warning : ConsoleLineType.Error;
        }

        private void Receive(string condition, string stackTrace, LogType type) =>
            LineWritten?.Invoke(new ConsoleLine(TypeOf(type), condition, stackTrace, clock.NowMs));
    }
}
