#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Paths of assets as callers write them: from the project's folder, and never out of Assets.</summary>
    internal static class AssetPath
    {
        public const string Assets = "Assets";
        public const string Packages = "Packages";

        private const string Forbidden = "<>:\"|?*";

        private const int MostSuggestions = 3;

        /// <summary>
        /// A path below Assets, with slashes; throws invalid_arguments for any other, and for one that leads through a link: what is
        /// written there may lie outside of the project.
        /// </summary>
        public static string Writable(IAssets assets, string parameter, string given)
        {
            var path = Writable(parameter, given);
            if (assets.LinkIn(path) is not { } link) return path;
            throw new ToolException(
                ToolException.InvalidArguments,
                $"{parameter} leads through {link}, a link on the disk, which may lead out of the project: {given}. Choose a path without a link.");
        }

        /// <summary>The same, where Assets itself and Packages will do.</summary>
        public static string Readable(string parameter, string given)
        {
            if (given.Length == 0) throw new ToolException(ToolException.InvalidArguments, $"{parameter} is required.");
            var path = given.Replace('\\', '/');
            if (path.StartsWith("/", StringComparison.Ordinal) || path.Contains(":"))
            {
                throw Invalid(parameter, given, "must be a path below Assets/, not an absolute one");
            }
            var names = path.TrimEnd('/').Split('/');
            foreach (var name in names)
            {
                if (Fault(name) is { } fault) throw Invalid(parameter, given, fault);
            }
            if (names[0] != Assets && names[0] != Packages) throw Invalid(parameter, given, "must start with Assets/");
            return string.Join("/", names);
        }

        public static string ParentOf(string path) => path.Substring(0, path.LastIndexOf('/'));

        public static string NameOf(string path) => path.Substring(path.LastIndexOf('/') + 1);

        /// <summary>The asset at a path; throws asset_not_found, with others of that name, where there is none.</summary>
        public static AssetEntry Existing(IAssets assets, string path)
        {
            if (assets.Get(path) is { } found) return found;
            var hint = assets.IsOnDisk(path) ? " It is on the disk but not imported: Refresh first." : Others(assets, path);
            throw new ToolException("asset_not_found", $"There is no asset {path}.{hint}");
        }

        private static string Writable(string parameter, string given)
        {
            var path = Readable(parameter, given);
            if (path.StartsWith(Assets + "/", StringComparison.Ordinal)) return path;
            throw Invalid(parameter, given, path == Assets ? "must be below Assets" : "must be below Assets: packages are only read");
        }

        private static string Others(IAssets assets, string path)
        {
            var name = System.IO.Path.GetFileNameWithoutExtension(NameOf(path));
            var others = assets.Find(name, new[] { Assets }).OrderBy(one => one, StringComparer.Ordinal).Take(MostSuggestions).ToList();
            return others.Count == 0 ? " find-assets searches for it." : $" Did you mean {string.Join(" or ", others)}?";
        }

        private static string? Fault(string name)
        {
            if (name.Length == 0) return "has an empty name in it";
            if (name.StartsWith(".", StringComparison.Ordinal) || name.EndsWith("~", StringComparison.Ordinal))
            {
                return $"must not go through {name}: Unity ignores names that begin with a dot or end in ~";
            }
            if (name.EndsWith(".meta", StringComparison.OrdinalIgnoreCase)) return "must name the asset, not its .meta file";
            if (name.Trim() != name || name.EndsWith(".", StringComparison.Ordinal)) return "has a name that begins or ends with a space, or ends with a dot";
            return name.Any(letter => letter < ' ' || Forbidden.IndexOf(letter) >= 0) ? "has a character that no file name may have" : null;
        }

        private static ToolException Invalid(string parameter, string given, string why) =>
            new ToolException(ToolException.InvalidArguments, $"{parameter} {why}: {given}");
    }
}
