#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Security
{
    /// <summary>The security switches as people find them: a label in the Editor, a word on the command line.</summary>
    public static class SecurityPlace
    {
        public const string Window = "Window > Unity Job Broker, section Security";

        /// <summary>Where single tools are switched.</summary>
        public const string Tools = "Window > Unity Job Broker, section Tools";

        /// <summary>The label of the switch that shows the tools for development.</summary>
        public const string Development = "Development mode";

        /// <summary>An environment variable: 1 shows them too.</summary>
        public const string DevelopmentVariable = "UNITY_BROKER_DEVELOPMENT";

        private static readonly IReadOnlyList<(SecuritySetting Setting, string Word, string Label)> Switches = new[]
        {
            (SecuritySetting.TestExecution, "tests", "Enable Tests Execution"),
            (SecuritySetting.MenuItemExecution, "menu-items", "Allow Menu Item Execution"),
            (SecuritySetting.CodeExecution, "code", "Allow Code Execution"),
            (SecuritySetting.BuildExecution, "builds", "Allow Player Builds"),
            (SecuritySetting.PlayModeControl, "play-mode", "Allow Play Mode Control"),
            (SecuritySetting.SceneEditing, "scenes", "Allow Scene Editing"),
            (SecuritySetting.AssetEditing, "assets", "Allow Asset Editing"),
            (SecuritySetting.PackageManagement, "packages", "Allow Package Management"),
        };

        /// <summary>Every switch, in the order in which people see them.</summary>
        public static IReadOnlyList<SecuritySetting> All { get; } = Switches.Select(one => one.Setting).ToList();

        public static IReadOnlyList<string> Words { get; } = Switches.Select(one => one.Word).ToList();

        /// <summary>The label of a setting; throws for None, which is no setting.</summary>
        public static string LabelOf(SecuritySetting setting) => Of(setting).Label;

        /// <summary>The word of a switch; throws for None, which is no setting.</summary>
        public static string WordOf(SecuritySetting setting) => Of(setting).Word;

        /// <summary>The switch of a word in any case; null when there is none.</summary>
        public static SecuritySetting? Named(string word)
        {
            foreach (var one in Switches)
            {
                if (string.Equals(one.Word, word, StringComparison.OrdinalIgnoreCase)) return one.Setting;
            }
            return null;
        }

        private static (SecuritySetting Setting, string Word, string Label) Of(SecuritySetting setting) =>
            Switches.First(one => one.Setting == setting);
    }
}
