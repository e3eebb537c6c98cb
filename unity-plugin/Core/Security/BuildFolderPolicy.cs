#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using JobBroker.Bridge.Endpoint;

namespace JobBroker.Bridge.Security
{
    /// <summary>
    /// Where players may be built to: below the project's folder, except where a file would become part of the project
    /// or
    /// of what runs it, and below the folders that the user has allowed. Links are followed first (not on Windows).
    /// </summary>
    public sealed class BuildFolderPolicy
    {
        /// <summary>Names of folders in the project; letter case does not count.</summary>
        public static readonly IReadOnlyList<string> Protected = Array.AsReadOnly(new[]
        {
            "Assets", "Library", "Packages", "ProjectSettings", "UserSettings",
        });

        private static readonly StringComparison PathCase = RuntimeInformation.IsOSPlatform(OSPlatform.Windows)
            ? StringComparison.OrdinalIgnoreCase
            : StringComparison.Ordinal;

        /// <param name="folders">Beside the project's; relative ones start there.</param>
        public BuildFolderPolicy(IEnumerable<string> folders)
        {
            Folders = Array.AsReadOnly(folders.Select(one => one.Trim()).Where(one => one.Length > 0).ToArray());
        }

        public IReadOnlyList<string> Folders { get; }

        /// <summary>Null when a player may be built there, else why not. Looks at the disk. Any thread.</summary>
        /// <param name="output">
        /// A file or a folder, which need not be there yet; relative ones start in the project.
        /// </param>
        public string? Refusal(string projectPath, string output)
        {
            var project = Resolved(projectPath) ?? Path.GetFullPath(projectPath);
            var target = Resolved(Path.Combine(projectPath, output));
            if (target == null) return Refused(projectPath, output, "it goes through a link that leads nowhere");
            if (IsProtected(project, target)) return Refused(projectPath, output, "the project's own files are there");
            var isAllowed = IsBelow(project, target)
                || Folders.Select(one => Resolved(Path.Combine(projectPath, one)))
                    .Any(one => one != null && IsBelow(one, target));
            return isAllowed ? null : Refused(projectPath, output, "it is outside of the allowed folders");
        }

        private string Refused(string projectPath, string output, string why)
        {
            var others = string.Concat(Folders.Select(one => ", " + one));
            return $"A player may not be built to {output}: {why}. Allowed are the project's folder {projectPath} "
                + $"(but not {string.Join(", ", Protected)}, and no folder whose name begins with a dot){others}. "
                + $"Choose another OutputPath, or change the allowed build folders in Unity under {SecurityPlace.Window}.";
        }

        private static bool IsProtected(string project, string target)
        {
            if (string.Equals(project, target, PathCase)) return true;
            // A folder of the project may itself be a link to somewhere else.
            if (Protected.Any(name => Resolved(Path.Combine(project, name)) is { } real && IsAtOrBelow(real, target)))
            {
                return true;
            }
            if (!IsBelow(project, target)) return false;
            var rest = target.Substring(project.Length).TrimStart(Path.DirectorySeparatorChar);
            var first = rest.Split(Path.DirectorySeparatorChar)[0];
            // .git, for one, holds programs that others run. Windows drops dots and spaces at a name's end.
            return first.StartsWith(".", StringComparison.Ordinal) || Protected.Any(
                name => string.Equals(name, first.TrimEnd('.', ' '), StringComparison.OrdinalIgnoreCase));
        }

        private static bool IsAtOrBelow(string folder, string path) =>
            string.Equals(folder, path, PathCase) || IsBelow(folder, path);

        private static bool IsBelow(string folder, string path)
        {
            var start = folder.TrimEnd(Path.DirectorySeparatorChar) + Path.DirectorySeparatorChar;
            return path.Length > start.Length && path.StartsWith(start, PathCase);
        }

        /// <summary>
        /// Absolute, with the links of what exists followed; null where a link is dangling: a writer would follow it.
        /// </summary>
        private static string? Resolved(string path)
        {
            var rest = new Stack<string>();
            var known = Path.GetFullPath(path);
            while (true)
            {
                if (PrivateFile.TryRealPath(known) is { } real) return rest.Aggregate(real, Path.Combine);
                if (PrivateFile.IsLink(known)) return null;
                var parent = Path.GetDirectoryName(known);
                if (string.IsNullOrEmpty(parent)) return rest.Aggregate(known, Path.Combine);
                var name = Path.GetFileName(known);
                if (name.Length > 0) rest.Push(name);
                known = parent!;
            }
        }
    }
}
