#nullable enable
using System;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Security
{
    /// <summary>The names of the settings as people find them in the Editor.</summary>
    public static class SecurityPlace
    {
        public const string Window = "Window > Unity Job Broker, section Security";

        /// <summary>The label of a setting; throws for None, which is no setting.</summary>
        public static string LabelOf(SecuritySetting setting)
        {
            switch (setting)
            {
                case SecuritySetting.TestExecution:
                    return "Enable Tests Execution";
                case SecuritySetting.MenuItemExecution:
                    return "Allow Menu Item Execution";
                case SecuritySetting.CodeExecution:
                    return "Allow Code Execution";
                case SecuritySetting.BuildExecution:
                    return "Allow Player Builds";
                default:
                    throw new ArgumentOutOfRangeException(nameof(setting));
            }
        }
    }
}
