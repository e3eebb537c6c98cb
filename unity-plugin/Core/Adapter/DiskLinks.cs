#nullable enable
using System;
using System.IO;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>Symbolic links and junctions on the way to a file: what is written behind one may lie anywhere.</summary>
    public static class DiskLinks
    {
        /// <summary>The first part of a path that is a link, from the root's folder on; null when none is.</summary>
        /// <param name="root">A folder; whether it is itself behind a link does not count.</param>
        /// <param name="path">With slashes. What is not there yet is no link.</param>
        public static string? FirstIn(string root, string path)
        {
            for (var end = path.IndexOf('/'); ; end = path.IndexOf('/', end + 1))
            {
                var part = end < 0 ? path : path.Substring(0, end);
                if (!IsThere(Path.Combine(root, part), out var isLink)) return null;
                if (isLink) return part;
                if (end < 0) return null;
            }
        }

        private static bool IsThere(string file, out bool isLink)
        {
            isLink = false;
            try
            {
                isLink = (File.GetAttributes(file) & FileAttributes.ReparsePoint) != 0;
                return true;
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException)
            {
                return false;
            }
        }
    }
}
