#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Window
{
    /// <summary>
    /// What the user of a project has set; never changes. Everything that runs other people's code is off at first.
    /// </summary>
    public sealed class BridgeSettings
    {
        public BridgeSettings(
            int? port = null,
            bool autoStart = true,
            bool testExecution = false,
            bool menuItemExecution = false,
            bool codeExecution = false,
            bool plainSurfaceBesideWorker = false,
            IEnumerable<string>? allowedMenuItems = null,
            IEnumerable<string>? deniedMenuItems = null)
        {
            Port = port;
            AutoStart = autoStart;
            TestExecution = testExecution;
            MenuItemExecution = menuItemExecution;
            CodeExecution = codeExecution;
            PlainSurfaceBesideWorker = plainSurfaceBesideWorker;
            AllowedMenuItems = Clean(allowedMenuItems ?? Enumerable.Empty<string>());
            DeniedMenuItems = Clean(deniedMenuItems ?? MenuItemPolicy.DefaultDenied);
        }

        /// <summary>Null takes the first free one.</summary>
        public int? Port { get; }

        public bool AutoStart { get; }

        public bool TestExecution { get; }

        public bool MenuItemExecution { get; }

        public bool CodeExecution { get; }

        /// <summary>Leaves the plain calls open beside a worker.</summary>
        public bool PlainSurfaceBesideWorker { get; }

        /// <summary>Globs; empty means everything that is not denied.</summary>
        public IReadOnlyList<string> AllowedMenuItems { get; }

        public IReadOnlyList<string> DeniedMenuItems { get; }

        public bool IsOn(SecuritySetting setting) =>
            (setting == SecuritySetting.TestExecution && TestExecution)
            || (setting == SecuritySetting.MenuItemExecution && MenuItemExecution)
            || (setting == SecuritySetting.CodeExecution && CodeExecution);

        /// <summary>The part that decides whether a call may run.</summary>
        public SecuritySnapshot Security() => new SecuritySnapshot(
            TestExecution, MenuItemExecution, CodeExecution, AllowedMenuItems, DeniedMenuItems);

        public BridgeSettings WithPort(int? port) => new BridgeSettings(
            port, AutoStart, TestExecution, MenuItemExecution, CodeExecution, PlainSurfaceBesideWorker,
            AllowedMenuItems, DeniedMenuItems);

        public BridgeSettings WithAutoStart(bool on) => new BridgeSettings(
            Port, on, TestExecution, MenuItemExecution, CodeExecution, PlainSurfaceBesideWorker,
            AllowedMenuItems, DeniedMenuItems);

        public BridgeSettings WithPlainSurfaceBesideWorker(bool on) => new BridgeSettings(
            Port, AutoStart, TestExecution, MenuItemExecution, CodeExecution, on,
            AllowedMenuItems, DeniedMenuItems);

        public BridgeSettings With(SecuritySetting setting, bool on) => new BridgeSettings(
            Port,
            AutoStart,
            setting == SecuritySetting.TestExecution ? on : TestExecution,
            setting == SecuritySetting.MenuItemExecution ? on : MenuItemExecution,
            setting == SecuritySetting.CodeExecution ? on : CodeExecution,
            PlainSurfaceBesideWorker,
            AllowedMenuItems,
            DeniedMenuItems);

        public BridgeSettings WithMenuItems(IEnumerable<string> allowed, IEnumerable<string> denied) => new BridgeSettings(
            Port, AutoStart, TestExecution, MenuItemExecution, CodeExecution, PlainSurfaceBesideWorker, allowed, denied);

        private static IReadOnlyList<string> Clean(IEnumerable<string> globs) =>
            globs.Select(glob => glob.Trim()).Where(glob => glob.Length > 0).ToArray();
    }
}
