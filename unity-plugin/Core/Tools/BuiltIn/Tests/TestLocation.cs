#nullable enable
using System;
using System.Globalization;
using System.Text.RegularExpressions;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Where a test failed, from its stack trace, in the two forms that Mono and .NET write.</summary>
    internal static class TestLocation
    {
        /// <summary>`in C:\Game\Assets\A.cs:12`, `in /game/Assets/A.cs:line 12`.</summary>
        private static readonly Regex Frame = new Regex(
            @" in (?<file>[^\r\n<>]+?):(?:line )?(?<line>\d+)\s*$",
            RegexOptions.Multiline | RegexOptions.CultureInvariant);

        /// <summary>
        /// The innermost frame whose file is of the project: what threw it may be an assertion's own code. The file is
        /// relative to the project, with slashes; null when no frame has one.
        /// </summary>
        public static string? FileIn(string stackTrace, string projectPath, out int line)
        {
            line = 0;
            var project = projectPath.Replace('\\', '/').TrimEnd('/') + "/";
            foreach (Match frame in Frame.Matches(stackTrace))
            {
                var file = frame.Groups["file"].Value.Replace('\\', '/');
                if (file.StartsWith("./", StringComparison.Ordinal)) file = file.Substring(2);
                var isInside = file.StartsWith(project, StringComparison.OrdinalIgnoreCase);
                if (isInside) file = file.Substring(project.Length);
                var isNamedFromProject = isInside || file.StartsWith("Assets/", StringComparison.Ordinal)
                    || file.StartsWith("Packages/", StringComparison.Ordinal);
                if (!isNamedFromProject || file.StartsWith("Library/", StringComparison.OrdinalIgnoreCase)) continue;
                if (!int.TryParse(frame.Groups["line"].Value, NumberStyles.None, CultureInfo.InvariantCulture, out line)) continue;
                return file;
            }
            return null;
        }
    }
}
