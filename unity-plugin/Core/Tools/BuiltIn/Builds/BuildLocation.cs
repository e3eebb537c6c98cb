#nullable enable
using System;
using System.IO;
using System.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// Where a player is built to: Unity wants the program's file for some platforms and a folder for others.
    /// </summary>
    internal static class BuildLocation
    {
        /// <summary>An absolute path. A wanted path with an extension is taken as it is.</summary>
        /// <param name="extension">Of the player's file, empty for a folder; null for what the platform usually has.</param>
        public static string Of(string projectPath, string projectName, string wanted, string target, string? extension)
        {
            var absolute = Path.GetFullPath(Path.Combine(projectPath, wanted));
            if (Path.GetExtension(absolute).Length > 0) return absolute;
            var folder = Path.Combine(absolute, target);
            extension ??= ExtensionOf(target);
            return extension.Length == 0 ? folder : Path.Combine(folder, FileName(projectName) + extension);
        }

        /// <summary>Empty for platforms whose player is a folder.</summary>
        private static string ExtensionOf(string target)
        {
            switch (target)
            {
                case "StandaloneWindows":
                case "StandaloneWindows64":
                    return ".exe";
                case "StandaloneOSX":
                    return ".app";
                case "StandaloneLinux64":
                    return ".x86_64";
                case "Android":
                    return ".apk";
                default:
                    return "";
            }
        }

        private static string FileName(string projectName)
        {
            var forbidden = Path.GetInvalidFileNameChars().Concat("<>:\"/\\|?*").ToArray();
            var letters = projectName.Select(letter => Array.IndexOf(forbidden, letter) >= 0 ? '_' : letter);
            var name = string.Concat(letters).Trim();
            return name.Length == 0 ? "Player" : name;
        }
    }
}
