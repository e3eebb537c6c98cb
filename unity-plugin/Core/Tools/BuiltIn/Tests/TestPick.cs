#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// Chooses what the framework itself would choose with an expression over full names or categories. The framework compares
    /// without a limit, on the main thread: a hostile expression would hold the Editor for ever. Here one comparison is limited,
    /// and all of them together. Main thread only.
    /// </summary>
    internal sealed class TestPick
    {
        /// <summary>How long all comparisons may hold the main thread.</summary>
        private const int MostMs = 3_000;

        private readonly Dictionary<TestTreeNode, bool> matchesWithin = new Dictionary<TestTreeNode, bool>();
        private readonly Dictionary<TestTreeNode, bool> whole = new Dictionary<TestTreeNode, bool>();

        /// <summary>Whether all that has a name is chosen: a namespace may be in several assemblies.</summary>
        private readonly Dictionary<string, bool> wholeNames = new Dictionary<string, bool>();

        private readonly HashSet<TestTreeNode> matched = new HashSet<TestTreeNode>();
        private readonly Func<TestTreeNode, bool> matches;

        /// <summary>An expression behind ! leaves out what it fits, and never means anything that is explicit.</summary>
        private readonly bool excludes;

        private bool hasChosen;
        private int count;

        private TestPick(Func<TestTreeNode, bool> matches, bool excludes)
        {
            this.matches = matches;
            this.excludes = excludes;
        }

        /// <summary>Whether the framework would read the value as an expression.</summary>
        public static bool IsNeeded(TestFilterKind kind) => kind == TestFilterKind.Regex || kind == TestFilterKind.Category;

        /// <summary>Throws a ToolException of type invalid_arguments when the value is no expression.</summary>
        public static void Check(TestFilterKind kind, string value)
        {
            if (IsNeeded(kind)) Expression(value);
        }

        /// <summary>Throws a ToolException of type invalid_arguments when the comparisons take too long.</summary>
        public static PickedTests From(TestTreeNode root, TestFilterKind kind, string value, IClock clock)
        {
            var isMatch = Expression(value);
            var end = clock.ElapsedMs + MostMs;
            var pick = new TestPick(Matches, value.StartsWith("!", StringComparison.Ordinal));
            pick.Compare(root);
            pick.Choose(root, false, false);
            if (pick.whole[root] && pick.hasChosen) return new PickedTests(pick.count, null);
            return new PickedTests(pick.count, pick.Names(root).Distinct().ToList());

            bool Matches(TestTreeNode node)
            {
                if (clock.ElapsedMs > end) throw TooSlow();
                return kind == TestFilterKind.Category ? node.Categories.Any(isMatch) : isMatch(node.Name);
            }
        }

        private static Func<string, bool> Expression(string value) =>
            TextFilter.For("FilterValue", value.StartsWith("!", StringComparison.Ordinal) ? value.Substring(1) : value, true);

        private static ToolException TooSlow() => new ToolException(
            ToolException.InvalidArguments,
            "FilterValue takes too long to match over all tests; write a simpler regular expression. No test ran.");

        /// <summary>Returns whether the node or anything in it matches.</summary>
        private bool Compare(TestTreeNode node)
        {
            var isMatch = matches(node);
            if (isMatch) matched.Add(node);
            foreach (var child in node.Children) isMatch |= Compare(child);
            matchesWithin[node] = isMatch;
            return isMatch;
        }

        /// <param name="above">A suite around it matches: all in it is meant, but not what is explicit.</param>
        /// <param name="isBarred">A suite around it is explicit and not meant.</param>
        private bool Choose(TestTreeNode node, bool above, bool isBarred)
        {
            var fits = above || matched.Contains(node);
            var isExplicit = node.State == TestNodeState.Explicit;
            var barred = isBarred || (isExplicit && (excludes || !matchesWithin[node]));
            bool all;
            if (node.IsSuite)
            {
                all = !isExplicit;
                foreach (var child in node.Children)
                {
                    all &= Choose(child, fits, barred) && child.State != TestNodeState.Explicit;
                }
            }
            else
            {
                all = fits != excludes && !barred;
                hasChosen |= all;
                if (all && node.State != TestNodeState.Skipped) count++;
            }
            whole[node] = all;
            wholeNames[node.Name] = all && (!wholeNames.TryGetValue(node.Name, out var others) || others);
            return all;
        }

        /// <summary>A suite's name where all in it is chosen: the framework compares each test with each name.</summary>
        private IEnumerable<string> Names(TestTreeNode node)
        {
            var canBeNamed = node.Name.Length > 0 && !node.IsAssembly;
            var isWhole = whole[node] && (!node.IsSuite || (node.Children.Count > 0 && wholeNames[node.Name]));
            if (isWhole && canBeNamed) return new[] { node.Name };
            return node.Children.SelectMany(Names);
        }
    }
}
