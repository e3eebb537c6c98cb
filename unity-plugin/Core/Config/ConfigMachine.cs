#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace JobBroker.Bridge.Config
{
    /// <summary>Whose machine it is: its home folder, and where its programs are. Tests make one of their own.</summary>
    public sealed class ConfigMachine
    {
        /// <summary>An Editor that was started from the Hub has a shorter path than a terminal.</summary>
        private static readonly string[] UsualFolders = { "/usr/local/bin", "/opt/homebrew/bin" };

        /// <param name="path">As in the environment: folders between the system's separators.</param>
        public ConfigMachine(bool isWindows, string home, string path)
        {
            IsWindows = isWindows;
            Home = home;
            var folders = path.Split(Path.PathSeparator).Where(one => one.Length > 0 && Path.IsPathRooted(one));
            Folders = (isWindows ? folders : folders.Concat(UsualFolders)).Distinct().ToList();
        }

        public bool IsWindows { get; }

        public string Home { get; }

        /// <summary>Where programs are looked for, in order.</summary>
        public IReadOnlyList<string> Folders { get; }

        /// <summary>The machine that this process runs on.</summary>
        public static ConfigMachine Current() => new ConfigMachine(
            RuntimeInformation.IsOSPlatform(OSPlatform.Windows),
            Environment.GetFolderPath(Environment.SpecialFolder.UserProfile),
            Environment.GetEnvironmentVariable("PATH") ?? "");

        /// <summary>The full path of a program; null when it is not there.</summary>
        public string? PathOf(string program)
        {
            var names = IsWindows ? new[] { program + ".exe", program + ".cmd", program } : new[] { program };
            return Path.IsPathRooted(program)
                ? names.FirstOrDefault(File.Exists)
                : Folders.SelectMany(folder => names.Select(name => Path.Combine(folder, name))).FirstOrDefault(File.Exists);
        }
    }
}
