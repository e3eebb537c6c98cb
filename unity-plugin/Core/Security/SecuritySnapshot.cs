#nullable enable
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Security
{
    /// <summary>
    /// The security settings at one moment; never changed. Everything that runs foreign code is off until the user
    /// switches it on, as in the uLoopMCP versions with which this bridge is compatible.
    /// </summary>
    public sealed class SecuritySnapshot
    {
        public SecuritySnapshot(
            bool testExecution = false,
            bool menuItemExecution = false,
            bool codeExecution = false,
            bool buildExecution = false,
            IEnumerable<string>? allowedMenuItems = null,
            IEnumerable<string>? deniedMenuItems = null,
            IEnumerable<string>? buildFolders = null,
            bool isBatch = false)
        {
            IsBatch = isBatch;
            TestExecution = testExecution;
            MenuItemExecution = menuItemExecution;
            CodeExecution = codeExecution;
            BuildExecution = buildExecution;
            MenuItems = new MenuItemPolicy(
                allowedMenuItems ?? Enumerable.Empty<string>(),
                deniedMenuItems ?? MenuItemPolicy.DefaultDenied);
            BuildFolders = new BuildFolderPolicy(buildFolders ?? Enumerable.Empty<string>());
        }

        /// <summary>Nobody can click a switch in this Editor.</summary>
        public bool IsBatch { get; }

        public bool TestExecution { get; }

        public bool MenuItemExecution { get; }

        public bool CodeExecution { get; }

        public bool BuildExecution { get; }

        /// <summary>Which menu items may run once menu items may run at all.</summary>
        public MenuItemPolicy MenuItems { get; }

        /// <summary>Where players may be built to once they may be built at all.</summary>
        public BuildFolderPolicy BuildFolders { get; }
    }
}
