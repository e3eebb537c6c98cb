#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// Finds a property as callers write it: by Unity's path, or without its m_, in any case, and with [0] for
    /// .Array.data[0].
    /// </summary>
    internal static class PropertyPath
    {
        private static readonly Regex ShortElement = new Regex(@"(?<!\.Array\.data)\[(\d+)\]", RegexOptions.CultureInvariant);

        /// <summary>A dot between names; that of Array.data[0] is within one.</summary>
        private static readonly Regex Dot = new Regex(@"\.(?!data\[)", RegexOptions.CultureInvariant);

        /// <summary>Throws ToolException, with the names that there are, when it is none.</summary>
        public static SerializedValue Find(IPropertyEditing properties, string component, string path)
        {
            var whole = ShortElement.Replace(path, ".Array.data[$1]");
            var at = "";
            foreach (var part in Dot.Split(whole))
            {
                var next = Below(at, part);
                at = properties.Find(next) != null ? next : Below(at, NameLike(properties, component, at, part));
            }
            return properties.Find(at) ?? throw NotFound(component, "", path, properties.Names(""));
        }

        private static string Below(string at, string name) => at.Length == 0 ? name : $"{at}.{name}";

        private static string NameLike(IPropertyEditing properties, string component, string at, string part)
        {
            var list = at.Length == 0 ? null : properties.Find(at);
            if (list?.Kind == PropertyKind.List)
            {
                throw new ToolException("property_not_found", $"{component}.{at} has {list.Size} elements and no {part}.");
            }
            var names = properties.Names(at);
            return names.FirstOrDefault(one => Plain(one) == Plain(part)) ?? throw NotFound(component, at, part, names);
        }

        private static string Plain(string name)
        {
            var bare = name.StartsWith("m_", StringComparison.Ordinal) ? name.Substring(2) : name;
            return bare.Replace(" ", "").Replace("_", "").ToLowerInvariant();
        }

        private static ToolException NotFound(string component, string at, string part, IReadOnlyList<string> names)
        {
            var there = names.Count == 0 ? "It has none." : $"There are {string.Join(", ", names)}.";
            return new ToolException(
                "property_not_found", $"{Below(component, at).TrimEnd('.')} has no property {part}.{Nearest.Hint(names, part)} {there}");
        }
    }
}
