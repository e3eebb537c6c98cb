#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>
    /// Which tests of a tree a request means: the framework's own count may hold those that its filter leaves out.
    /// </summary>
    public static class TestSelection
    {
        private static readonly TimeSpan MatchTimeout = TimeSpan.FromMilliseconds(250);

        /// <param name="assembly">File name of the test's assembly, with or without .dll.</param>
        public static bool Means(
            TestFilterKind kind,
            string value,
            string fullName,
            IEnumerable<string> categories,
            string assembly)
        {
            switch (kind)
            {
                case TestFilterKind.Exact:
                    // The name of a class or namespace means all that is in it.
                    return fullName == value
                        || fullName.StartsWith(value + ".", StringComparison.Ordinal)
                        || fullName.StartsWith(value + "(", StringComparison.Ordinal);
                case TestFilterKind.Regex:
                    return IsMatch(fullName, value);
                case TestFilterKind.Assembly:
                    return string.Equals(Bare(assembly), Bare(value), StringComparison.OrdinalIgnoreCase);
                case TestFilterKind.Category:
                    return categories.Contains(value);
                default:
                    return true;
            }
        }

        /// <summary>What takes too long to match is counted: the framework has no such limit.</summary>
        private static bool IsMatch(string fullName, string expression)
        {
            try
            {
                return Regex.IsMatch(fullName, expression, RegexOptions.None, MatchTimeout);
            }
            catch (RegexMatchTimeoutException)
            {
                return true;
            }
        }

        /// <summary>An assembly's name without folder and .dll.</summary>
        public static string Bare(string assembly)
        {
            var name = assembly.Split('/', '\\').Last();
            return name.EndsWith(".dll", StringComparison.OrdinalIgnoreCase) ? name.Substring(0, name.Length - 4) : name;
        }
    }
}
