#nullable enable
namespace JobBroker.Bridge.Adapter
{
    /// <summary>Menu paths as [MenuItem] attributes write them.</summary>
    public static class MenuPath
    {
        private const string ShortcutSigns = "%^#&_";

        /// <summary>
        /// Without the keyboard shortcut at the end ("Tools/Bake %#b" is run as "Tools/Bake"): the last word counts as
        /// one when it begins with one of % ^ # &amp; _ and something follows.
        /// </summary>
        public static string WithoutShortcut(string written)
        {
            var space = written.LastIndexOf(' ');
            if (space <= 0 || space > written.Length - 3) return written;
            return ShortcutSigns.IndexOf(written[space + 1]) >= 0 ? written.Substring(0, space).TrimEnd() : written;
        }
    }
}
