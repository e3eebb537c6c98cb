#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;

namespace JobBroker.Bridge.Security
{
    /// <summary>
    /// Which security switches are on in batch mode, where nobody can click one: exactly those that the command line names, or else
    /// the environment; where neither names any, those that the user has saved. An Editor with windows is never changed by
    /// them: somebody may have set a variable for other processes.
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

        private BatchPermissions(IReadOnlyCollection<SecuritySetting> allowed)
        {
            this.allowed = allowed;
        }

        /// <summary>Null: the saved settings count.</summary>
        /// <param name="environment">The value of <see cref="Variable"/>; null when it is not set.</param>
        /// <param name="fault">A sentence about words that are unknown or without effect; null when there are none.</param>
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
            var unknown = named.Where(word => SecurityPlace.Named(word) == null && !IsNothing(word)).ToList();
            if (unknown.Count > 0)
            {
                fault = $"{place} names {string.Join(", ", unknown)}, which allows nothing. "
                    + $"Known are {string.Join(", ", SecurityPlace.Words)}, and {Nothing}.";
            }
            return new BatchPermissions(named.Select(SecurityPlace.Named).OfType<SecuritySetting>().Distinct().ToList());
        }

        /// <summary>The saved settings with these switches; the lists of menu items and folders stay.</summary>
        public SecuritySnapshot Over(BridgeSettings saved) => (saved with { Allowed = allowed }).Security(true);

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
