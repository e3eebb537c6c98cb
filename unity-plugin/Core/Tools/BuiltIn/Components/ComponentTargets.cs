#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Finds the component that a parameter names: by its type, the second of a type as Type[1].</summary>
    internal static class ComponentTargets
    {
        /// <summary>Throws ToolException, with those that there are, when it is none.</summary>
        /// <param name="advice">What else the caller can do then, as a sentence with a space in front.</param>
        public static ObjectComponent Find(IObjectEditing objects, SceneObject one, string wanted, string advice = "")
        {
            var all = objects.ComponentsOf(one);
            var name = wanted;
            var index = 0;
            var bracket = wanted.IndexOf('[');
            if (bracket > 0 && wanted.EndsWith("]", StringComparison.Ordinal))
            {
                var digits = wanted.Substring(bracket + 1, wanted.Length - bracket - 2);
                if (int.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out index)) name = wanted.Substring(0, bracket);
            }
            var found = all.Where(component => Is(component, name)).Skip(index).FirstOrDefault();
            if (found != null) return found;
            throw new ToolException(
                "component_not_found",
                $"{one.Name} has no component {wanted}. It has {string.Join(", ", all.Select((component, at) => NameOf(all, at)))}.{advice}");
        }

        /// <summary>The name by which <see cref="Find"/> finds the component at an index.</summary>
        public static string NameOf(IReadOnlyList<ObjectComponent> all, int index)
        {
            var before = all.Take(index).Count(other => other.Type == all[index].Type);
            return before == 0 ? all[index].Type : $"{all[index].Type}[{before}]";
        }

        private static bool Is(ObjectComponent component, string name) =>
            string.Equals(component.Type, name, StringComparison.OrdinalIgnoreCase)
            || string.Equals(component.FullTypeName, name, StringComparison.OrdinalIgnoreCase);
    }
}
