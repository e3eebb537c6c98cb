#nullable enable
using System;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>
    /// Which tests of a tree a request means that the framework's filter reads itself: its own count may hold those that this
    /// filter leaves out.
    /// </summary>
    public static class TestSelection
    {
        /// <param name="assembly">File name of the test's assembly, with or without .dll.</param>
        public static bool Means(TestFilterKind kind, string value, string fullName, string assembly)
        {
            switch (kind)
            {
                case TestFilterKind.Exact:
                    // The name of a class or namespace means all that is in it.
                    return fullName == value
                        || fullName.StartsWith(value + ".", StringComparison.Ordinal)
                        || fullName.StartsWith(value + "(", StringComparison.Ordinal);
                case TestFilterKind.Assembly:
                    return string.Equals(Bare(assembly), Bare(value), StringComparison.OrdinalIgnoreCase);
                default:
                    return true;
            }
        }

        /// <summary>An assembly's name without folder and .dll.</summary>
        public static string Bare(string assembly)
        {
            var name = assembly.Split('/', '\\').Last();
            return name.EndsWith(".dll", StringComparison.OrdinalIgnoreCase) ? name.Substring(0, name.Length - 4) : name;
        }

        /// <summary>
        /// A test's full name as the framework's filter compares it: without the number that its list adds to the second of two
        /// cases that have the same name.
        /// </summary>
        /// <param name="childIndex">-1 for one that has no number.</param>
        public static string FilterName(string fullName, int childIndex)
        {
            if (childIndex < 0) return fullName;
            var added = $" GeneratedTestCase{childIndex.ToString(CultureInfo.InvariantCulture)}";
            if (fullName.EndsWith(added + ")", StringComparison.Ordinal)) return fullName.Substring(0, fullName.Length - added.Length - 1) + ")";
            return fullName.EndsWith(added, StringComparison.Ordinal) ? fullName.Substring(0, fullName.Length - added.Length) : fullName;
        }
    }
}
