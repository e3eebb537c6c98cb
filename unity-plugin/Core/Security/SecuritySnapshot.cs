#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Security
{
    /// <summary>
    /// The security settings at one moment; never changed. Everything that runs foreign code or changes the project by an
    /// edit is off until the user switches it on.
    /// </summary>
    public sealed record SecuritySnapshot
    {
        /// <summary>Nobody can click a switch in this Editor.</summary>
        public bool IsBatch { get; init; }

        /// <summary>The switches that are on.</summary>
        public IReadOnlyCollection<SecuritySetting> Allowed { get; init; } = Array.Empty<SecuritySetting>();

        /// <summary>What was said of single tools and assemblies.</summary>
        public ToolChoices Choices { get; init; } = ToolChoices.None;

        /// <summary>Tools for development are listed and may run.</summary>
        public bool IsDevelopment { get; init; }

        /// <summary>Which menu items may run once menu items may run at all.</summary>
        public MenuItemPolicy MenuItems { get; init; } =
            new MenuItemPolicy(Array.Empty<string>(), MenuItemPolicy.DefaultDenied);

        /// <summary>Where players may be built to once they may be built at all.</summary>
        public BuildFolderPolicy BuildFolders { get; init; } = new BuildFolderPolicy(Array.Empty<string>());

        /// <summary>The settings of the start with these switches on.</summary>
        public static SecuritySnapshot Allowing(params SecuritySetting[] allowed) => new SecuritySnapshot { Allowed = allowed };

        /// <summary>True also for <see cref="SecuritySetting.None"/>, which is no switch.</summary>
        public bool IsOn(SecuritySetting setting) => setting == SecuritySetting.None || Allowed.Contains(setting);
    }
}
