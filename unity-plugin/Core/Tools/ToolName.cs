#nullable enable
using System;
using System.Collections.Generic;
using System.Text;

namespace JobBroker.Bridge.Tools
{
    /// <summary>Names of tools: kebab-case, at most 64 characters, none that the bridge answers itself.</summary>
    public static class ToolName
    {
        private const int Longest = 64;

        /// <summary>
        /// Methods of the plain surface that are part of the connection and no operations: the handler answers them,
        /// and no list of tools shows them, as an assistant that calls them would only rename or describe its own bridge.
        /// </summary>
        public static readonly IReadOnlyList<string> Reserved = Array.AsReadOnly(new[]
        {
            "set-client-name",
            "get-tool-details",
            "get-command-details",
        });

        /// <summary>BuildPlayerTool becomes build-player, GetURLTool get-url.</summary>
        public static string FromClass(Type type)
        {
            var name = type.Name;
            foreach (var suffix in new[] { "Tool", "Command" })
            {
                if (!name.EndsWith(suffix, StringComparison.Ordinal) || name.Length == suffix.Length) continue;
                name = name.Substring(0, name.Length - suffix.Length).TrimEnd('_');
                break;
            }
            var kebab = new StringBuilder();
            for (var index = 0; index < name.Length; index++)
            {
                if (index > 0 && BeginsWord(name, index)) kebab.Append('-');
                kebab.Append(name[index] == '_' ? '-' : char.ToLowerInvariant(name[index]));
            }
            return kebab.ToString();
        }

        /// <summary>Null for a usable name, else what is wrong with it.</summary>
        public static string? Fault(string name)
        {
            if (name.Length == 0 || name.Length > Longest) return $"its name must have 1 to {Longest} characters";
            var previous = '-';
            foreach (var letter in name)
            {
                var plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
                if (!plain && (letter != '-' || previous == '-')) return $"its name \"{name}\" is not in kebab-case";
                previous = letter;
            }
            if (previous == '-') return $"its name \"{name}\" is not in kebab-case";
            foreach (var reserved in Reserved)
            {
                if (name == reserved) return $"its name \"{name}\" belongs to the bridge";
            }
            return null;
        }

        private static bool BeginsWord(string name, int index)
        {
            if (name[index - 1] == '_' || name[index] == '_' || !char.IsUpper(name[index])) return false;
            var nextIsLower = index + 1 < name.Length && char.IsLower(name[index + 1]);
            return !char.IsUpper(name[index - 1]) || nextIsLower;
        }
    }
}
