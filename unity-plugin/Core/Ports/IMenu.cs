#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>One menu item of the Editor.</summary>
    public sealed class MenuItemEntry
    {
        public MenuItemEntry(string path, string? method, string? assembly)
        {
            Path = path;
            Method = method;
            Assembly = assembly;
        }

        public string Path { get; }

        /// <summary>Type and method behind it where the item comes from a script; null for the Editor's own.</summary>
        public string? Method { get; }

        public string? Assembly { get; }
    }

    /// <summary>The Editor's menus. Main thread only.</summary>
    public interface IMenu
    {
        /// <summary>Items found by reflection on [MenuItem]; the Editor has more that no API lists.</summary>
        IReadOnlyList<MenuItemEntry> List();

        /// <summary>Runs an item until it ends; false when the Editor knows none of that path. An item's exception is thrown on.</summary>
        bool Execute(string path);
    }
}
