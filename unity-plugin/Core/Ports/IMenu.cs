#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>One menu item of the Editor.</summary>
    public sealed class MenuItemEntry
    {
        public MenuItemEntry(string path, string? method, string? assembly, bool isValidation = false, int priority = 0)
        {
            Path = path;
            Method = method;
            Assembly = assembly;
            IsValidation = isValidation;
            Priority = priority;
        }

        public string Path { get; }

        /// <summary>
        /// Full name of type and method behind it (Studio.Tools.Bake) where a script has it; null for the Editor's
        /// own.
        /// </summary>
        public string? Method { get; }

        /// <summary>Name of the assembly that has the method.</summary>
        public string? Assembly { get; }

        /// <summary>True for the method that validates whether the item is enabled; it runs nothing.</summary>
        public bool IsValidation { get; }

        public int Priority { get; }
    }

    /// <summary>The Editor's menus. Main thread only.</summary>
    public interface IMenu
    {
        /// <summary>Items found by reflection on [MenuItem]; the Editor has more that no API lists.</summary>
        IReadOnlyList<MenuItemEntry> List();

        /// <summary>
        /// Runs an item until it ends; false when the Editor knows none of that path. An item's exception is thrown
        /// on.
        /// </summary>
        bool Execute(string path);
    }
}
