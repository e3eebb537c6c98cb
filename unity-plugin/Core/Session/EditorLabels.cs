#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Session
{
    /// <summary>
    /// The labels that say which pools an Editor is in (docs/guide/pools.md): those of the environment, of the command line and of
    /// the user's settings, and what the Editor is. The broker adds the project and the Unity version.
    /// </summary>
    public static class EditorLabels
    {
        /// <summary>An environment variable: labels between commas.</summary>
        public const string Variable = "UNITY_BROKER_LABELS";

        /// <summary>An argument of Unity's command line; the next one has labels between commas. It may come several times.</summary>
        public const string Argument = "-brokerLabels";

        /// <summary>The longest that the broker takes.</summary>
        private const int Longest = 64;

        /// <summary>Those that are labels, in lower case, without doubles. <paramref name="platform"/>: the active build target; null where there is none.</summary>
        public static IReadOnlyList<string> Of(
            string? environment,
            IReadOnlyList<string> commandLine,
            IEnumerable<string> settings,
            bool isBatch,
            string? platform)
        {
            IEnumerable<string> labels = Between(environment);
            for (var at = 0; at + 1 < commandLine.Count; at++)
            {
                if (string.Equals(commandLine[at], Argument, StringComparison.OrdinalIgnoreCase))
                {
                    labels = labels.Concat(Between(commandLine[at + 1]));
                }
            }
            labels = labels.Concat(settings);
            if (isBatch) labels = labels.Append("batch");
            if (platform != null) labels = labels.Append("platform=" + platform);
            return labels.Where(IsLabel).Select(label => label.ToLowerInvariant()).Distinct().ToList();
        }

        /// <summary>What stands between the commas of a text, trimmed; nothing is left out but empty text.</summary>
        public static IReadOnlyList<string> Between(string? text) =>
            (text ?? "").Split(',').Select(label => label.Trim()).Where(label => label.Length > 0).ToList();

        /// <summary>Letters, digits, '.', '_', '-' and at most one '=', in upper or lower case; at most 64 characters.</summary>
        /// <remarks>
        /// The form is the broker's, which passes over what is no label. Not an expression: every start of a script domain asks
        /// this, and the first expression is a tenth of such a start.
        /// </remarks>
        public static bool IsLabel(string text)
        {
            if (text.Length == 0 || text.Length > Longest) return false;
            var lower = text.ToLowerInvariant();
            var equals = lower.IndexOf('=');
            var key = equals < 0 ? lower : lower.Substring(0, equals);
            if (key.Length == 0 || !IsLetterOrDigit(key[0]) || !key.All(IsPlain)) return false;
            return equals < 0 || (equals < lower.Length - 1 && lower.Substring(equals + 1).All(IsPlain));
        }

        private static bool IsLetterOrDigit(char c) => (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        private static bool IsPlain(char c) => IsLetterOrDigit(c) || c == '.' || c == '_' || c == '-';
    }
}
