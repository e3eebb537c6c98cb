#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Session
{
    /// <summary>
    /// The labels that say which pools an Editor is in (docs/guide/pools.md): those of the environment and of the command line, and
    /// what the Editor is. The broker adds the project and the Unity version.
    /// </summary>
    public static class EditorLabels
    {
        /// <summary>An environment variable: labels between commas.</summary>
        public const string Variable = "UNITY_BROKER_LABELS";

        /// <summary>An argument of Unity's command line; the next one has labels between commas. It may come several times.</summary>
        public const string Argument = "-brokerLabels";

        /// <summary>Lower case, without doubles. <paramref name="platform"/>: the active build target; null where there is none.</summary>
        public static IReadOnlyList<string> Of(
            string? environment,
            IReadOnlyList<string> commandLine,
            bool isBatch,
            string? platform)
        {
            var labels = Between(environment);
            for (var at = 0; at + 1 < commandLine.Count; at++)
            {
                if (string.Equals(commandLine[at], Argument, StringComparison.OrdinalIgnoreCase))
                {
                    labels = labels.Concat(Between(commandLine[at + 1]));
                }
            }
            if (isBatch) labels = labels.Append("batch");
            if (platform != null) labels = labels.Append("platform=" + platform);
            return labels.Select(label => label.ToLowerInvariant()).Distinct().ToList();
        }

        private static IEnumerable<string> Between(string? text) =>
            (text ?? "").Split(',').Select(label => label.Trim()).Where(label => label.Length > 0);
    }
}
