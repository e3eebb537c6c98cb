#nullable enable
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

namespace JobBroker.Bridge.Config
{
    /// <summary>Whose files are meant: system, environment, home folder. Tests make any system of it.</summary>
    public sealed class ConfigMachine
    {
        private static readonly Regex Variable = new Regex(@"\$\{(\w+):-([^}]*)\}", RegexOptions.CultureInvariant);

        /// <param name="platform">darwin, linux or win32; others are taken for linux.</param>
        public ConfigMachine(string platform, IReadOnlyDictionary<string, string> environment, string home)
        {
            Platform = platform;
            Environment = environment;
            Home = home;
        }

        public string Platform { get; }

        public IReadOnlyDictionary<string, string> Environment { get; }

        public string Home { get; }

        public bool IsWindows => Platform == "win32";

        /// <summary>The machine that this process runs on.</summary>
        public static ConfigMachine Current() => new ConfigMachine(
            RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? "win32"
                : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? "darwin" : "linux",
            System.Environment.GetEnvironmentVariables().Cast<DictionaryEntry>()
                .GroupBy(entry => (string)entry.Key)
                .ToDictionary(group => group.Key, group => (string?)group.First().Value ?? ""),
            System.Environment.GetFolderPath(System.Environment.SpecialFolder.UserProfile));

        /// <summary>The user's own file of a client.</summary>
        public string UserFile(McpClient client)
        {
            var written = client.Files[Platform == "win32" || Platform == "darwin" ? Platform : "linux"];
            var filled = Variable.Replace(written, match =>
                Environment.TryGetValue(match.Groups[1].Value, out var value) && IsAbsolute(value)
                    ? value
                    : match.Groups[2].Value);
            var path = filled.StartsWith("~", StringComparison.Ordinal) ? Home + filled.Substring(1) : filled;
            return IsWindows ? path.Replace('/', '\\') : path;
        }

        /// <summary>A project's file of a client; null where it has none.</summary>
        public string? ProjectFile(McpClient client, string folder)
        {
            if (client.ProjectFile == null) return null;
            var path = folder.TrimEnd('/', '\\') + "/" + client.ProjectFile;
            return IsWindows ? path.Replace('/', '\\') : path;
        }

        private bool IsAbsolute(string path)
        {
            if (!IsWindows) return path.StartsWith("/", StringComparison.Ordinal);
            return path.StartsWith("\\", StringComparison.Ordinal) || path.StartsWith("/", StringComparison.Ordinal)
                || (path.Length > 2 && char.IsLetter(path[0]) && path[1] == ':' && (path[2] == '\\' || path[2] == '/'));
        }
    }
}
