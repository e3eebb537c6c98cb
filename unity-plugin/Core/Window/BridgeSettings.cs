#nullable enable
using System;
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
            bool buildExecution = false,
            bool plainSurface = false,
            IEnumerable<string>? allowedMenuItems = null,
            IEnumerable<string>? deniedMenuItems = null,
            IEnumerable<string>? buildFolders = null,
            IEnumerable<string>? labels = null)
        {
            Port = port;
            AutoStart = autoStart;
            TestExecution = testExecution;
            MenuItemExecution = menuItemExecution;
            CodeExecution = codeExecution;
            BuildExecution = buildExecution;
            PlainSurface = plainSurface;
            AllowedMenuItems = Clean(allowedMenuItems ?? Enumerable.Empty<string>());
            DeniedMenuItems = Clean(deniedMenuItems ?? MenuItemPolicy.DefaultDenied);
            BuildFolders = Clean(buildFolders ?? Enumerable.Empty<string>());
            Labels = Clean(labels ?? Enumerable.Empty<string>());
        }

        /// <summary>Null takes the first free one.</summary>
        public int? Port { get; private set; }

        public bool AutoStart { get; private set; }

        public bool TestExecution { get; private set; }

        public bool MenuItemExecution { get; private set; }

        public bool CodeExecution { get; private set; }

        public bool BuildExecution { get; private set; }

        /// <summary>Opens the plain calls to every program that reaches the port, without the token.</summary>
        public bool PlainSurface { get; private set; }

        /// <summary>Globs; empty means everything that is not denied.</summary>
        public IReadOnlyList<string> AllowedMenuItems { get; private set; }

        public IReadOnlyList<string> DeniedMenuItems { get; private set; }

        /// <summary>Where players may be built to beside the project's folder; relative ones start there.</summary>
        public IReadOnlyList<string> BuildFolders { get; private set; }

        /// <summary>Beside those of the environment and the command line: see EditorLabels.</summary>
        public IReadOnlyList<string> Labels { get; private set; }

        public bool IsOn(SecuritySetting setting)
        {
            switch (setting)
            {
                case SecuritySetting.TestExecution:
                    return TestExecution;
                case SecuritySetting.MenuItemExecution:
                    return MenuItemExecution;
                case SecuritySetting.CodeExecution:
                    return CodeExecution;
                case SecuritySetting.BuildExecution:
                    return BuildExecution;
                default:
                    return false;
            }
        }

        /// <summary>The part that decides whether a call may run.</summary>
        /// <param name="isBatch">Nobody can click a switch in this Editor.</param>
        public SecuritySnapshot Security(bool isBatch = false) => new SecuritySnapshot(
            TestExecution,
            MenuItemExecution,
            CodeExecution,
            BuildExecution,
            AllowedMenuItems,
            DeniedMenuItems,
            BuildFolders,
            isBatch);

        public BridgeSettings WithPort(int? port) => Changed(copy => copy.Port = port);

        public BridgeSettings WithAutoStart(bool on) => Changed(copy => copy.AutoStart = on);

        public BridgeSettings WithPlainSurface(bool on) => Changed(copy => copy.PlainSurface = on);

        public BridgeSettings With(SecuritySetting setting, bool on) => Changed(copy =>
        {
            if (setting == SecuritySetting.TestExecution) copy.TestExecution = on;
            if (setting == SecuritySetting.MenuItemExecution) copy.MenuItemExecution = on;
            if (setting == SecuritySetting.CodeExecution) copy.CodeExecution = on;
            if (setting == SecuritySetting.BuildExecution) copy.BuildExecution = on;
        });

        public BridgeSettings WithMenuItems(IEnumerable<string> allowed, IEnumerable<string> denied) => Changed(copy =>
        {
            copy.AllowedMenuItems = Clean(allowed);
            copy.DeniedMenuItems = Clean(denied);
        });

        public BridgeSettings WithBuildFolders(IEnumerable<string> folders) =>
            Changed(copy => copy.BuildFolders = Clean(folders));

        public BridgeSettings WithLabels(IEnumerable<string> labels) => Changed(copy => copy.Labels = Clean(labels));

        private BridgeSettings Changed(Action<BridgeSettings> change)
        {
            var copy = (BridgeSettings)MemberwiseClone();
            change(copy);
            return copy;
        }

        private static IReadOnlyList<string> Clean(IEnumerable<string> lines) =>
            lines.Select(line => line.Trim()).Where(line => line.Length > 0).ToArray();
    }
}
