#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>A file of a player, as build-player reports it.</summary>
    public sealed class PlayerFile
    {
        public PlayerFile(string path, long bytes, string? role)
        {
            Path = path;
            Bytes = bytes;
            Role = role;
        }

        /// <summary>Absolute.</summary>
        public string Path { get; }

        public long Bytes { get; }

        /// <summary>Unity's word for what it is for; null where Unity has not named the file.</summary>
        public string? Role { get; }
    }

    /// <summary>
    /// The files of a player: those that Unity reports within the output's folder (it also reports what it has written to
    /// Temp and Library), and the output itself. Where Unity names none, what is in the output's folder.
    /// </summary>
    internal static class PlayerFiles
    {
        private static readonly StringComparer PathCase = RuntimeInformation.IsOSPlatform(OSPlatform.Windows)
            ? StringComparer.OrdinalIgnoreCase
            : StringComparer.Ordinal;

        /// <summary>Where the player's files are.</summary>
        /// <param name="output">Where the player was built to: a file or a folder.</param>
        public static string FolderOf(string projectPath, string output)
        {
            var place = Path.GetFullPath(Path.Combine(projectPath, output));
            return Directory.Exists(place) ? place : Path.GetDirectoryName(place) ?? place;
        }

        /// <summary>Sorted by path, each once. Looks at the disk; follows no link.</summary>
        /// <param name="output">Where the player was built to: a file or a folder.</param>
        public static IReadOnlyList<PlayerFile> Of(string projectPath, string output, IEnumerable<BuiltFile> reported)
        {
            var place = Path.GetFullPath(Path.Combine(projectPath, output));
            var folder = FolderOf(projectPath, output);
            var found = new SortedDictionary<string, PlayerFile>(PathCase);
            foreach (var file in reported)
            {
                var path = Path.GetFullPath(Path.Combine(projectPath, file.Path));
                if (IsBelow(folder, path)) found[path] = new PlayerFile(path, LengthOf(path) ?? file.Bytes, file.Role);
            }
            if (!found.ContainsKey(place) && LengthOf(place) is { } length)
            {
                found[place] = new PlayerFile(place, length, null);
            }
            if (found.Count > 0 || !Directory.Exists(place)) return found.Values.ToList();
            return Walk(place).OrderBy(file => file.Path, PathCase).ToList();
        }

        private static IEnumerable<PlayerFile> Walk(string folder)
        {
            foreach (var entry in EntriesOf(folder))
            {
                if ((entry.Attributes & FileAttributes.ReparsePoint) != 0) continue;
                if (entry is FileInfo file) yield return new PlayerFile(file.FullName, file.Length, null);
                else foreach (var below in Walk(entry.FullName)) yield return below;
            }
        }

        /// <summary>None of a folder that cannot be read.</summary>
        private static FileSystemInfo[] EntriesOf(string folder)
        {
            try
            {
                return new DirectoryInfo(folder).GetFileSystemInfos();
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return Array.Empty<FileSystemInfo>();
            }
        }

        private static long? LengthOf(string path)
        {
            var file = new FileInfo(path);
            return file.Exists ? file.Length : (long?)null;
        }

        private static bool IsBelow(string folder, string path)
        {
            var start = folder.TrimEnd(Path.DirectorySeparatorChar) + Path.DirectorySeparatorChar;
            return path.Length > start.Length && PathCase.Equals(path.Substring(0, start.Length), start);
        }
    }
}
