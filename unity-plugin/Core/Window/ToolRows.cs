#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Window
{
    /// <summary>The tools as the window lists them: the bridge's own, then those of each assembly.</summary>
    internal static class ToolRows
    {
        public static IReadOnlyList<ToolGroup> Of(IReadOnlyList<RegisteredTool> tools, SecuritySnapshot settings) => tools
            .GroupBy(tool => tool.Assembly)
            .OrderBy(group => group.Key ?? "", StringComparer.Ordinal)
            .Select(group => Group(group.Key, group.First().Package, group, settings))
            .ToList();

        private static ToolGroup Group(
            string? assembly, string? package, IEnumerable<RegisteredTool> tools, SecuritySnapshot settings)
        {
            var title = assembly == null ? "" : assembly + (package == null ? "" : ", with the package " + package);
            var rows = tools.Select(tool => Row(tool, settings)).ToList();
            return new ToolGroup(assembly, title, ToolConsent.IsAllowed(assembly, package, settings), rows);
        }

        private static ToolRow Row(RegisteredTool tool, SecuritySnapshot settings)
        {
            var isOn = ToolConsent.Refusal(tool, settings) == null;
            return new ToolRow(tool.Name, tool.Description, Remark(tool) + Decided(tool, settings, isOn), isOn);
        }

        private static string Remark(RegisteredTool tool)
        {
            var effect = tool.Effect == ToolEffect.ReadOnly ? "reads only"
                : tool.Effect == ToolEffect.Idempotent ? "safe to repeat" : "changes things";
            var length = tool.ExecutionClass == ExecutionClass.Quick ? "seconds"
                : tool.ExecutionClass == ExecutionClass.Long ? "up to an hour" : "minutes";
            return effect + ", " + length + (tool.DisplayDevelopmentOnly ? ", development only" : "");
        }

        private static string Decided(RegisteredTool tool, SecuritySnapshot settings, bool isOn)
        {
            if (settings.Choices.OfTool(tool.Name).HasValue) return isOn ? ", on alone" : ", off alone";
            var setting = tool.RequiredSecuritySetting;
            return isOn || settings.IsOn(setting) ? "" : $", needs \"{SecurityPlace.LabelOf(setting)}\"";
        }
    }
}
