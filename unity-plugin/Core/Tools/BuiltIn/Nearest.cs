#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Which name somebody may have meant.</summary>
    internal static class Nearest
    {
        /// <summary>True for names that differ in case, in two letters, or by what one has more.</summary>
        public static bool IsNear(string name, string given)
        {
            var left = name.ToLowerInvariant();
            var right = given.ToLowerInvariant();
            if (left.Length == 0 || right.Length == 0) return false;
            if (left.Contains(right) || (left.Length > 2 && right.Contains(left))) return true;
            return Math.Abs(left.Length - right.Length) <= 2 && Distance(left, right) <= Math.Min(2, right.Length / 3);
        }

        /// <summary>" Did you mean …?" for the names that are near; else an empty text.</summary>
        public static string Hint(IEnumerable<string> names, string given)
        {
            var near = names.Where(name => IsNear(name, given)).Take(3).ToList();
            return near.Count == 0 ? "" : $" Did you mean {string.Join(" or ", near)}?";
        }

        private static int Distance(string left, string right)
        {
            var row = Enumerable.Range(0, right.Length + 1).ToArray();
            for (var i = 1; i <= left.Length; i++)
            {
                var diagonal = row[0];
                row[0] = i;
                for (var j = 1; j <= right.Length; j++)
                {
                    var above = row[j];
                    var replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
                    row[j] = Math.Min(replaced, Math.Min(above, row[j - 1]) + 1);
                    diagonal = above;
                }
            }
            return row[right.Length];
        }
    }
}
