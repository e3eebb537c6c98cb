#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;

namespace JobBroker.Bridge.Security
{
    /// <summary>
    /// What may run in batch mode, where nobody can click a switch: exactly what the command line names, or else the environment
    /// (switches, tools, assemblies: see ToolChoices); where neither names anything, what the user has saved. An Editor with windows
    /// is never changed by them: somebody may have set a variable for other processes.
    /// </summary>
    public sealed class BatchPermissions
    {
        /// <summary>An environment variable: words between commas.</summary>
        public const string Variable = "UNITY_BROKER_ALLOW";

        /// <summary>An argument of Unity's command line; the next one has words between commas. It may come several times.</summary>
        public const string Argument = "-brokerAllow";

        /// <summary>Allows nothing, whatever the user has saved.</summary>
        private const string Nothing = "none";

        private readonly IReadOnlyCollection<SecuritySetting> allowed;
        private readonly ToolChoices choices;

        private BatchPermissions(IReadOnlyList<string> words)
        {
            allowed = words.Select(SecurityPlace.Named).OfType<SecuritySetting>().Distinct().ToList();
            choices = ToolChoices.Of(words.Where(word => SecurityPlace.Named(word) == null && !IsNothing(word)));
        }

        /// <summary>Null: the saved settings count.</summary>
        /// <param name="environment">The value of <see cref="Variable"/>; null when it is not set.</param>
        /// <param name="fault">
        /// A sentence about words that cannot name anything; null when there are none. Names are looked up once the tools are
        /// known: ToolConsent.Unknown.
        /// </param>
        public static BatchPermissions? Of(
            string? environment,
            IReadOnlyList<string> commandLine,
            bool isBatch,
            out string? fault)
        {
            fault = null;
            var named = InArguments(commandLine);
            var place = named == null ? Variable : Argument;
            named ??= string.IsNullOrWhiteSpace(environment) ? null : Between(environment!);
            if (named == null) return null;
            if (!isBatch)
            {
                fault = $"{place} counts in batch mode only, and is ignored: this Editor has a window ({SecurityPlace.Window}).";
                return null;
            }
            var wrong = named.Where(word => SecurityPlace.Named(word) == null && !ToolChoices.IsWord(word)).ToList();
            if (wrong.Count > 0)
            {
                fault = $"{place} names {string.Join(", ", wrong)}, which allows nothing. Known are "
                    + $"{string.Join(", ", SecurityPlace.Words)}, the names of tools, {ToolChoices.AssemblyPrefix}…, and {Nothing}.";
            }
            return new BatchPermissions(named);
        }

        /// <summary>The saved settings with these permissions; the lists of menu items and folders stay.</summary>
        public SecuritySnapshot Over(BridgeSettings saved) =>
            (saved with { Allowed = allowed, Choices = choices }).Security(true);

        /// <summary>Null where the argument does not come; without words where nothing follows it.</summary>
        private static IReadOnlyList<string>? InArguments(IReadOnlyList<string> commandLine)
        {
            List<string>? named = null;
            for (var at = 0; at < commandLine.Count; at++)
            {
                if (!string.Equals(commandLine[at], Argument, StringComparison.OrdinalIgnoreCase)) continue;
                named ??= new List<string>();
                // The next argument of Unity's is no word.
                var isFollowed = at + 1 < commandLine.Count && !commandLine[at + 1].StartsWith("-", StringComparison.Ordinal);
                if (isFollowed) named.AddRange(Between(commandLine[at + 1]));
            }
            return named;
        }

        private static bool IsNothing(string word) => string.Equals(word, Nothing, StringComparison.OrdinalIgnoreCase);

        private static IReadOnlyList<string> Between(string text) =>
            text.Split(',').Select(word => word.Trim()).Where(word => word.Length > 0).ToList();
    }
}
