#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Security
{
    /// <summary>
    /// What was said of single tools and of single assemblies, beside the switches of groups, by words: <c>save-scene</c> allows
    /// that tool, <c>assembly:Game.Tools</c> the tools of that assembly, and a <c>-</c> in front denies. Never changes.
    /// </summary>
    public sealed class ToolChoices
    {
        public const string AssemblyPrefix = "assembly:";
        public const string Denial = "-";

        private readonly IReadOnlyDictionary<string, bool> choices;

        private ToolChoices(IReadOnlyDictionary<string, bool> choices)
        {
            this.choices = choices;
        }

        public static ToolChoices None { get; } = Of(Array.Empty<string>());

        /// <summary>As they were said; <see cref="Of"/> reads them back.</summary>
        public IReadOnlyList<string> Words => choices
            .Select(one => one.Value ? one.Key : Denial + one.Key)
            .OrderBy(word => word, StringComparer.Ordinal)
            .ToList();

        /// <summary>Words that are none are left out. Of two that contradict each other the denial counts.</summary>
        public static ToolChoices Of(IEnumerable<string> words)
        {
            var choices = new Dictionary<string, bool>(StringComparer.OrdinalIgnoreCase);
            foreach (var word in words.Where(IsWord))
            {
                var isDenial = word.StartsWith(Denial, StringComparison.Ordinal);
                var name = isDenial ? word.Substring(Denial.Length) : word;
                choices[name] = !isDenial && (!choices.TryGetValue(name, out var before) || before);
            }
            return new ToolChoices(choices);
        }

        /// <summary>Whether a word can name a tool or an assembly; whether there is one is not known here.</summary>
        public static bool IsWord(string word)
        {
            var name = word.StartsWith(Denial, StringComparison.Ordinal) ? word.Substring(Denial.Length) : word;
            return name.StartsWith(AssemblyPrefix, StringComparison.OrdinalIgnoreCase)
                ? name.Length > AssemblyPrefix.Length
                : ToolName.Fault(name.ToLowerInvariant()) == null;
        }

        /// <summary>Null: nothing was said of it.</summary>
        public bool? OfTool(string name) => Said(name);

        /// <summary>Null: nothing was said of it.</summary>
        public bool? OfAssembly(string name) => Said(AssemblyPrefix + name);

        /// <param name="may">Null takes back what was said.</param>
        public ToolChoices WithTool(string name, bool? may) => With(name, may);

        /// <param name="may">Null takes back what was said.</param>
        public ToolChoices WithAssembly(string name, bool? may) => With(AssemblyPrefix + name, may);

        private bool? Said(string name) => choices.TryGetValue(name, out var may) ? may : (bool?)null;

        private ToolChoices With(string name, bool? may)
        {
            var changed = choices.ToDictionary(one => one.Key, one => one.Value, StringComparer.OrdinalIgnoreCase);
            changed.Remove(name);
            if (may.HasValue) changed[name] = may.Value;
            return new ToolChoices(changed);
        }
    }
}
