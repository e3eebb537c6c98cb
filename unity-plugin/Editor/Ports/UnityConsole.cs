#nullable enable
using System;
using System.Reflection;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// The Editor's console. No API empties it: that goes through the internal UnityEditor.LogEntries.
    /// </summary>
    internal sealed class UnityConsole : IConsole, IDisposable
    {
        private readonly IClock clock;

        public UnityConsole(IClock clock)
        {
            this.clock = clock;
            Application.logMessageReceivedThreaded += Receive;
        }

        public event Action<ConsoleLine>? LineWritten;

        public int Clear()
        {
            var entries = typeof(EditorApplication).Assembly.GetType("UnityEditor.LogEntries");
            var count = Call(entries, "GetCount") as int? ?? 0;
            Call(entries, "Clear");
            return count;
        }

        public void Dispose() => Application.logMessageReceivedThreaded -= Receive;

        private static object? Call(Type? type, string name)
        {
            const BindingFlags anyStatic = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
            var method = type?.GetMethod(name, anyStatic, null, Type.EmptyTypes, null);
            if (method == null) throw new NotSupportedException("This Editor's console cannot be emptied by a program.");
            return method.Invoke(null, null);
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
