#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using JobBroker.Bridge.Ports;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// The entries of Unity's Console, through the internal UnityEditor.LogEntries (the same from 2021.3 to 6000.7). Main
    /// thread only; throws <see cref="NotSupportedException"/> where this Editor has it otherwise.
    /// </summary>
    internal static class ConsoleEntries
    {
        private const BindingFlags Anything =
            BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

        // What a person has chosen in the Console's window.
        private const int Collapse = 1 << 0;
        private const int EveryLevel = (1 << 7) | (1 << 8) | (1 << 9);

        // Of an entry's mode: errors, assertions and exceptions of Unity, of scripts, of imports and of compilers.
        private const int ScriptCompileError = 1 << 11;
        private const int Errors =
            (1 << 0) | (1 << 1) | (1 << 4) | (1 << 6) | (1 << 8) | (1 << 11) | (1 << 17) | (1 << 20) | (1 << 21);
        private const int Warnings = (1 << 7) | (1 << 9) | (1 << 12);

        private static readonly Type? Entries = typeof(EditorApplication).Assembly.GetType("UnityEditor.LogEntries");
        private static readonly Type? Entry = typeof(EditorApplication).Assembly.GetType("UnityEditor.LogEntry");

        public static int Count() => (int)Call("GetCount")!;

        public static void Clear() => Call("Clear");

        /// <summary>The newest entries, oldest first, whatever the Console's window shows of them.</summary>
        public static IReadOnlyList<ConsoleLine> Read(int most) =>
            Newest(most).Select(entry => Line(entry.Text, entry.StackStart, entry.Mode)).ToList();

        /// <summary>What the script compiler says of the project as it is: a person cannot clear that away.</summary>
        public static IReadOnlyList<string> CompilerErrors(int most) =>
            Newest(most).Where(entry => (entry.Mode & ScriptCompileError) != 0).Select(entry => entry.Text).ToList();

        private static List<(string Text, int StackStart, int Mode)> Newest(int most)
        {
            var flags = Property("consoleFlags");
            var shown = (int)flags.GetValue(null)!;
            var filter = (string?)Call("GetFilteringText") ?? "";
            try
            {
                flags.SetValue(null, (shown | EveryLevel) & ~Collapse);
                if (filter.Length > 0) Call("SetFilteringText", "");
                return NewestShown(most);
            }
            finally
            {
                if (filter.Length > 0) Call("SetFilteringText", filter);
                flags.SetValue(null, shown);
            }
        }

        /// <summary>Between its start and its end nobody else may write to the Console: no call may come out of here.</summary>
        private static List<(string Text, int StackStart, int Mode)> NewestShown(int most)
        {
            if (Entry == null) throw Unknown("LogEntry");
            var get = Method("GetEntryInternal", 2);
            var message = Field("message");
            var mode = Field("mode");
            var stackStart = Field("callstackTextStartUTF16");
            var entries = new List<(string, int, int)>();
            var count = (int)Call("StartGettingEntries")!;
            try
            {
                for (var row = Math.Max(0, count - most); row < count; row++)
                {
                    var entry = Activator.CreateInstance(Entry, true);
                    if (!(get.Invoke(null, new[] { row, entry }) is true)) continue;
                    entries.Add(((string?)message.GetValue(entry) ?? "", (int)stackStart.GetValue(entry)!, (int)mode.GetValue(entry)!));
                }
            }
            finally
            {
                Call("EndGettingEntries");
            }
            return entries;
        }

        /// <summary>The text and the stack trace are one string in an entry, and when it was written is not in it.</summary>
        private static ConsoleLine Line(string text, int stackStart, int mode)
        {
            var hasStack = stackStart > 0 && stackStart < text.Length;
            var type = (mode & Errors) != 0 ? ConsoleLineType.Error
                : (mode & Warnings) != 0 ? ConsoleLineType.Warning
                : ConsoleLineType.Log;
            return new ConsoleLine(
                type,
                (hasStack ? text.Substring(0, stackStart) : text).TrimEnd('\r', '\n'),
                hasStack ? text.Substring(stackStart) : "",
                0);
        }

        private static object? Call(string name, params object[] arguments) =>
            Method(name, arguments.Length).Invoke(null, arguments);

        private static MethodInfo Method(string name, int parameters)
        {
            var found = Entries?.GetMethod(name, Anything);
            return found?.GetParameters().Length == parameters ? found! : throw Unknown(name);
        }

        private static PropertyInfo Property(string name) => Entries?.GetProperty(name, Anything) ?? throw Unknown(name);

        private static FieldInfo Field(string name) => Entry?.GetField(name, Anything) ?? throw Unknown(name);

        private static NotSupportedException Unknown(string name) =>
            new NotSupportedException($"This Editor's console cannot be reached by a program ({name}).");
    }
}
