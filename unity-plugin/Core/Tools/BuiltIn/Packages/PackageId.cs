#nullable enable
using System;
using System.Text.RegularExpressions;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    internal enum PackageSource
    {
        Registry,
        Git,
        File,
    }

    /// <summary>A package as callers name it, checked before the Package Manager sees it.</summary>
    internal sealed class PackageId
    {
        private const int LongestName = 214;

        private const string Forms =
            "a name (com.unity.cinemachine), name@version, a git URL (https://….git, ssh://…, git@host:…), or file: and a path";

        private static readonly Regex NameForm = new Regex(@"^[a-z0-9][a-z0-9\-_]*(\.[a-z0-9\-_]+)+$");

        private static readonly Regex VersionForm =
            new Regex(@"^\d+\.\d+\.\d+(-[0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*)?(\+[0-9A-Za-z\-.]+)?$");

        private static readonly Regex GitForm =
            new Regex(@"^((git\+)?(https?|ssh|file)://|git://|[A-Za-z0-9_.\-]+@[A-Za-z0-9.\-]+:)\S+$");

        private static readonly Regex UserInfo = new Regex(@"//[^/@\s]+@");

        private PackageId(PackageSource source, string text, string name = "", string? version = null)
        {
            Source = source;
            Text = text;
            Name = name;
            Version = version;
        }

        public PackageSource Source { get; }

        /// <summary>As the Package Manager takes it.</summary>
        public string Text { get; }

        /// <summary>Empty where only the package itself says it.</summary>
        public string Name { get; }

        /// <summary>Null for whichever is the newest that fits this Editor.</summary>
        public string? Version { get; }

        /// <summary>Without a user's name and password.</summary>
        public string Shown => WithoutUser(Text);

        public static string WithoutUser(string text) => UserInfo.Replace(text, "//");

        public static PackageId Parse(string given)
        {
            var text = given.Trim();
            if (text.Length == 0) throw Invalid("Package is required: " + Forms + ".");
            if (text.StartsWith("file:", StringComparison.Ordinal) && !text.StartsWith("file://", StringComparison.Ordinal))
            {
                if (text.Length > "file:".Length) return new PackageId(PackageSource.File, text);
                throw Invalid("Package has no path behind file:.");
            }
            if (IsGit(text)) return new PackageId(PackageSource.Git, text);
            var at = text.IndexOf('@');
            var name = at < 0 ? text : text.Substring(0, at);
            var version = at < 0 ? null : text.Substring(at + 1);
            if (name.Length > LongestName || !NameForm.IsMatch(name)) throw Invalid($"Package must be {Forms}, not \"{Short(text)}\".");
            if (version == null || VersionForm.IsMatch(version)) return new PackageId(PackageSource.Registry, text, name, version);
            throw Invalid($"\"{Short(version)}\" is not a version such as 1.2.3 or 2.0.0-pre.1.");
        }

        /// <summary>The name of an installed package; throws for every other form.</summary>
        public static string NameIn(string given)
        {
            var id = Parse(given);
            if (id.Source == PackageSource.Registry && id.Version == null) return id.Name;
            throw Invalid($"Package must be the name of an installed package, not \"{Short(id.Shown)}\"; list-packages has them.");
        }

        /// <summary>Other addresses on the web are no packages.</summary>
        private static bool IsGit(string text)
        {
            if (!GitForm.IsMatch(text)) return false;
            var isWeb = text.StartsWith("http", StringComparison.Ordinal);
            return !isWeb || Regex.IsMatch(text, @"\.git([?#/]|$)");
        }

        private static string Short(string text) => text.Length <= 100 ? text : text.Substring(0, 100) + "…";

        private static ToolException Invalid(string message) => new ToolException(ToolException.InvalidArguments, message);
    }
}
