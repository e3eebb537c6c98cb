#nullable enable
using System;
using System.Collections.Generic;
using System.IO;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>A small file of a player with its content, as build-player reports it.</summary>
    public sealed class FileContent
    {
        public FileContent(string path, long bytes, string base64)
        {
            Path = path;
            Bytes = bytes;
            Base64 = base64;
        }

        /// <summary>From the output's folder, its parts between slashes.</summary>
        public string Path { get; }

        public long Bytes { get; }

        public string Base64 { get; }
    }

    /// <summary>The contents of the small files of a player, within a budget.</summary>
    internal static class FileContents
    {
        /// <summary>Most bytes of a file.</summary>
        public const int MostOfFile = 256 * 1024;

        /// <summary>Most bytes of all files.</summary>
        public const int MostOfAll = 1024 * 1024;

        private const int MostFiles = 500;

        /// <summary>In their order; what is larger, is a link or lies behind one, or cannot be read is left out.</summary>
        public static IReadOnlyList<FileContent> Of(string folder, IEnumerable<PlayerFile> files, int upTo)
        {
            var contents = new List<FileContent>();
            var left = (long)MostOfAll;
            foreach (var file in files)
            {
                if (contents.Count == MostFiles) break;
                if (file.Bytes > Math.Min(upTo, left)) continue;
                var bytes = Read(folder, file.Path, Math.Min(upTo, left));
                if (bytes == null) continue;
                left -= bytes.Length;
                contents.Add(new FileContent(Below(folder, file.Path), bytes.Length, Convert.ToBase64String(bytes)));
            }
            return contents;
        }

        private static string Below(string folder, string path) =>
            path.Substring(folder.TrimEnd(Path.DirectorySeparatorChar).Length + 1).Replace(Path.DirectorySeparatorChar, '/');

        private static byte[]? Read(string folder, string path, long most)
        {
            try
            {
                if (IsBehindLink(folder, path)) return null;
                var file = new FileInfo(path);
                if (!file.Exists || file.Length > most) return null;
                var bytes = File.ReadAllBytes(path);
                return bytes.Length > most ? null : bytes;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return null;
            }
        }

        private static bool IsBehindLink(string folder, string path)
        {
            for (var at = path; at != null && at.Length > folder.Length; at = Path.GetDirectoryName(at))
            {
                if ((File.GetAttributes(at) & FileAttributes.ReparsePoint) != 0) return true;
            }
            return false;
        }
    }
}
