#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// Statements wrapped into a class that a compiler takes, such that its messages name the lines of the
    /// statements.
    /// </summary>
    internal sealed class CodeSource
    {
        public const string ClassName = "JobBrokerExecutedCode";
        public const string MethodName = "Run";

        private static readonly string[] Namespaces =
        {
            "System", "System.Collections.Generic", "System.Linq", "System.Threading.Tasks",
        };

        /// <summary>
        /// Namespaces that are opened where their assembly is loaded: Unity's, which only its Editor has.
        /// </summary>
        private static readonly string[] EditorNamespaces = { "UnityEngine", "UnityEditor" };

        private readonly int lineCount;

        private CodeSource(string text, int lineCount)
        {
            Text = text;
            this.lineCount = lineCount;
        }

        /// <summary>The whole source.</summary>
        public string Text { get; }

        public static CodeSource Wrap(string code)
        {
            var lines = code.Replace("\r\n", "\n").Split('\n');
            var source = new StringBuilder();
            foreach (var name in Namespaces.Concat(EditorNamespaces.Where(IsLoaded))) source.Append($"using {name};\n");
            var directives = 0;
            for (; directives < lines.Length && MayPrecede(lines[directives]); directives++)
            {
                var line = lines[directives];
                if (IsUsing(line)) source.Append(At(directives + 1)).Append(line).Append('\n');
            }
            var isAsync = Regex.IsMatch(code, @"\bawait\b");
            source.Append("#pragma warning disable\n");
            source.Append($"public static class {ClassName} {{ public static ");
            source.Append(isAsync ? "async System.Threading.Tasks.Task<object>" : "object");
            source.Append($" {MethodName}(System.Threading.CancellationToken cancellation) {{\n");
            source.Append(At(directives + 1));
            for (var index = directives; index < lines.Length; index++) source.Append(lines[index]).Append('\n');
            source.Append("; return null; } }\n");
            return new CodeSource(source.ToString(), lines.Length);
        }

        /// <summary>The errors as sentences with the lines of the statements.</summary>
        public string Errors(IReadOnlyList<CompilerMessage> messages)
        {
            var errors = messages.Where(message => message.IsError).ToList();
            var counted = errors.Count == 1 ? "1 error" : $"{errors.Count} errors";
            var listed = errors.Select(error =>
            {
                var line = Math.Max(1, Math.Min(error.Line, lineCount));
                return $"\nline {line}, column {error.Column}: {error.Message}";
            });
            return $"The code does not compile ({counted}); nothing was run.{string.Concat(listed)}";
        }

        private static string At(int line) => $"#line {line.ToString(CultureInfo.InvariantCulture)} \"Code\"\n";

        private static bool MayPrecede(string line) =>
            line.Trim().Length == 0 || line.TrimStart().StartsWith("//", StringComparison.Ordinal) || IsUsing(line);

        /// <summary>A directive, not the statement <c>using (...)</c> or <c>using var ...</c>.</summary>
        private static bool IsUsing(string line) => Regex.IsMatch(
            line,
            @"^\s*using\s+(static\s+)?(\w+\s*=\s*)?[\w.]+(<[\w.,\s<>]*>)?\s*;\s*(//.*)?$");

        private static bool IsLoaded(string name) => AppDomain.CurrentDomain.GetAssemblies()
            .Select(assembly => assembly.GetName().Name)
            .Any(loaded => loaded == name || loaded == name + ".CoreModule");
    }
}
