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
    public sealed record BridgeSettings
    {
        private readonly IReadOnlyList<string> allowedMenuItems = Array.Empty<string>();
        private readonly IReadOnlyList<string> deniedMenuItems = Clean(MenuItemPolicy.DefaultDenied);
        private readonly IReadOnlyList<string> buildFolders = Array.Empty<string>();
        private readonly IReadOnlyList<string> labels = Array.Empty<string>();

        /// <summary>Null takes the first free one.</summary>
        public int? Port { get; init; }

        public bool AutoStart { get; init; } = true;

        /// <summary>Opens the plain calls to every program that reaches the port, without the token.</summary>
        public bool PlainSurface { get; init; }

        /// <summary>The security switches that are on.</summary>
        public IReadOnlyCollection<SecuritySetting> Allowed { get; init; } = Array.Empty<SecuritySetting>();

        /// <summary>What the user said of single tools and assemblies.</summary>
        public ToolChoices Choices { get; init; } = ToolChoices.None;

        /// <summary>Shows tools that are for development.</summary>
        public bool IsDevelopment { get; init; }

        /// <summary>Globs; empty means everything that is not denied.</summary>
        public IReadOnlyList<string> AllowedMenuItems
        {
            get => allowedMenuItems;
            init => allowedMenuItems = Clean(value);
        }

        public IReadOnlyList<string> DeniedMenuItems
        {
            get => deniedMenuItems;
            init => deniedMenuItems = Clean(value);
        }

        /// <summary>Where players may be built to beside the project's folder; relative ones start there.</summary>
        public IReadOnlyList<string> BuildFolders
        {
            get => buildFolders;
            init => buildFolders = Clean(value);
        }

        /// <summary>Beside those of the environment and the command line: see EditorLabels.</summary>
        public IReadOnlyList<string> Labels
        {
            get => labels;
            init => labels = Clean(value);
        }

        public bool IsOn(SecuritySetting setting) => Allowed.Contains(setting);

        public BridgeSettings With(SecuritySetting setting, bool on) => this with
        {
            Allowed = Allowed.Where(one => one != setting).Concat(on ? new[] { setting } : Array.Empty<SecuritySetting>()).ToList(),
        };

        /// <summary>The part that decides whether a call may run.</summary>
        /// <param name="isBatch">Nobody can click a switch in this Editor.</param>
        public SecuritySnapshot Security(bool isBatch = false) => new SecuritySnapshot
        {
            IsBatch = isBatch,
            Allowed = Allowed,
            Choices = Choices,
            IsDevelopment = IsDevelopment,
            MenuItems = new MenuItemPolicy(AllowedMenuItems, DeniedMenuItems),
            BuildFolders = new BuildFolderPolicy(BuildFolders),
        };

        private static IReadOnlyList<string> Clean(IEnumerable<string> lines) =>
            lines.Select(line => line.Trim()).Where(line => line.Length > 0).ToArray();
    }
}
