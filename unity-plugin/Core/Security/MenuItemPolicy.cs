#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Security
{
    /// <summary>
    /// Globs over menu paths: <c>*</c> stands for any text, slashes included, <c>?</c> for one character. Letter case
    /// and spaces around slashes do not count. A denied item never runs; with an allow list only what it matches does.
    /// </summary>
    public sealed class MenuItemPolicy
    {
        /// <summary>
        /// Items that end this Editor process or put another project into it: they would take every open operation with
        /// them. Names on Windows, macOS and Linux.
        /// </summary>
        public static readonly IReadOnlyList<string> DefaultDenied = Array.AsReadOnly(new[]
        {
            "File/Exit",
            "File/Quit*",
            "Edit/Quit*",
            "Unity/Quit*",
            "File/New Project*",
            "File/Open Project*",
            "Assets/Reimport All*",
        });

        public MenuItemPolicy(IEnumerable<string> allowed, IEnumerable<string> denied)
        {
            Allowed = Globs(allowed);
            Denied = Globs(denied);
        }

        /// <summary>Empty means: everything that is not denied.</summary>
        public IReadOnlyList<string> Allowed { get; }

        public IReadOnlyList<string> Denied { get; }

        /// <summary>Null when the item may run, else why not. Any thread.</summary>
        public string? Refusal(string path)
        {
            var plain = Plain(path);
            var denied = Denied.FirstOrDefault(glob => Glob.Matches(Plain(glob), plain));
            if (denied != null)
            {
                return $"The menu item {path} is denied by \"{denied}\". "
                    + $"Change the denied menu items in {SecurityPlace.Window}.";
            }
            if (Allowed.Count == 0 || Allowed.Any(glob => Glob.Matches(Plain(glob), plain))) return null;
            return $"The menu item {path} is not among the allowed ones. "
                + $"Add it to the allowed menu items in {SecurityPlace.Window}.";
        }

        private static IReadOnlyList<string> Globs(IEnumerable<string> globs) =>
            Array.AsReadOnly(globs.Select(glob => glob.Trim()).Where(glob => glob.Length > 0).ToArray());

        private static string Plain(string path) => string.Join(
            "/",
            path.Split('/').Select(part => part.Trim()).Where(part => part.Length > 0));
    }
}
