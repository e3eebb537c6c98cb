#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Security
{
    /// <summary>
    /// Whether a user lets a tool run (docs/decisions/security). What was said of the tool itself comes first, then its
    /// assembly, then the switch that it needs. Pure.
    /// </summary>
    public static class ToolConsent
    {
        /// <summary>Null when the tool may run; else a sentence with the shortest way to allow it.</summary>
        public static string? Refusal(RegisteredTool tool, SecuritySnapshot settings)
        {
            if (tool.DisplayDevelopmentOnly && !settings.IsDevelopment)
            {
                return $"{tool.Name} is blocked: it is for development; switch on \"{SecurityPlace.Development}\" in Unity under "
                    + $"{SecurityPlace.Tools}, or start this Editor with {SecurityPlace.DevelopmentVariable}=1.";
            }
            if (settings.Choices.OfTool(tool.Name) is { } said)
            {
                return said ? null : Denied(tool.Name, "it is denied by its name", tool.Name, settings);
            }
            return IsAllowed(tool.Assembly, tool.Package, settings)
                ? NeedsSwitch(tool, settings)
                : NeedsAssembly(tool, tool.Assembly!, settings);
        }

        /// <summary>Whether tools of that assembly may run, as far as it decides; null is the bridge's own.</summary>
        /// <param name="package">Null for the project's own code.</param>
        public static bool IsAllowed(string? assembly, string? package, SecuritySnapshot settings) =>
            assembly == null || (settings.Choices.OfAssembly(assembly) ?? package == null);

        /// <summary>
        /// What a start in batch mode names and this Editor has not, as a sentence; null when there is nothing. What a person has
        /// switched in the window may be gone for a while.
        /// </summary>
        public static string? Unknown(SecuritySnapshot settings, IReadOnlyList<RegisteredTool> tools)
        {
            if (!settings.IsBatch) return null;
            var known = tools.Select(tool => tool.Name)
                .Concat(tools.Where(tool => tool.Assembly != null).Select(tool => ToolChoices.AssemblyPrefix + tool.Assembly))
                .ToList();
            var unknown = settings.Choices.Words
                .Where(word => !known.Contains(word.TrimStart('-'), StringComparer.OrdinalIgnoreCase))
                .ToList();
            return unknown.Count == 0 ? null : $"What may run here is said by names that no tool of this Editor has: "
                + $"{string.Join(", ", unknown)}. Known are {string.Join(", ", SecurityPlace.Words)}, the names of tools, and "
                + $"{ToolChoices.AssemblyPrefix}… with an assembly that has tools.";
        }

        /// <summary>
        /// Whether a call may do, by its arguments, what another tool of the bridge is there for: null when that tool may run; else
        /// a sentence. A tool that is denied by its name is denied there too.
        /// </summary>
        /// <param name="what">The call, as the beginning of the sentence.</param>
        /// <param name="setting">The switch that the other tool needs.</param>
        public static string? NeedsTool(string what, string tool, SecuritySetting setting, SecuritySnapshot settings)
        {
            if (settings.Choices.OfTool(tool) is { } said)
            {
                return said ? null : Denied(what, $"it does what {tool} does, and that is denied by its name", tool, settings);
            }
            return NeedsSwitch(what, setting, settings, $" ({tool} in its place suffices)", $" (or {tool} alone, section Tools)");
        }

        private static string? NeedsSwitch(RegisteredTool tool, SecuritySnapshot settings) => NeedsSwitch(
            tool.Name,
            tool.RequiredSecuritySetting,
            settings,
            $" ({tool.Name} in its place allows this tool alone)",
            $" (or {tool.Name} alone, section Tools)");

        private static string? NeedsSwitch(
            string what, SecuritySetting setting, SecuritySnapshot settings, string aloneAtStart, string aloneByClick)
        {
            if (settings.IsOn(setting)) return null;
            var click = $"switch on \"{SecurityPlace.LabelOf(setting)}\"";
            return $"{what} is blocked: " + (settings.IsBatch
                ? $"{Start(SecurityPlace.WordOf(setting))}{aloneAtStart}; or {click} on this machine in Unity under {SecurityPlace.Window}."
                : $"{click} in Unity under {SecurityPlace.Window}{aloneByClick}.");
        }

        private static string NeedsAssembly(RegisteredTool tool, string assembly, SecuritySnapshot settings)
        {
            var why = settings.Choices.OfAssembly(assembly) == false
                ? $"the tools of the assembly {assembly} are switched off"
                : $"it comes with the package {tool.Package}, whose tools are off until you allow them";
            var click = $"switch on \"{assembly}\" in Unity under {SecurityPlace.Tools}";
            return $"{tool.Name} is blocked: {why}; "
                + (settings.IsBatch ? $"{Start(ToolChoices.AssemblyPrefix + assembly)}; or {click}, on this machine." : click + ".");
        }

        private static string Denied(string what, string why, string tool, SecuritySnapshot settings)
        {
            var click = $"switch {tool} on in Unity under {SecurityPlace.Tools}";
            var take = $"take {ToolChoices.Denial}{tool} out of {BatchPermissions.Argument} or {BatchPermissions.Variable}";
            return $"{what} is blocked: {why}; " + (settings.IsBatch ? $"{take}; or {click}, on this machine." : click + ".");
        }

        private static string Start(string word) =>
            $"start this Editor with {BatchPermissions.Argument} {word} or {BatchPermissions.Variable}={word}, beside what it already allows";
    }
}
