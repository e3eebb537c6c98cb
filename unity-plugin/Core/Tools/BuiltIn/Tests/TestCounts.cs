#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>A test that failed.</summary>
    public sealed class TestFailure
    {
        [JsonProperty("name")]
        public string Name { get; set; } = "";

        [JsonProperty("message")]
        public string Message { get; set; } = "";

        [JsonProperty("stackTrace")]
        public string StackTrace { get; set; } = "";
    }

    /// <summary>
    /// Every finished test once: a test reported again, as after a domain reload, replaces its earlier report.
    /// </summary>
    internal sealed class TestCounts
    {
        private readonly string projectPath;
        private readonly ReportFilter filter;
        private readonly List<TestCaseResult> cases = new List<TestCaseResult>();
        private readonly List<ReportedTest> listed = new List<ReportedTest>();

        /// <summary>Where in <see cref="cases"/> each of the listed ones is: it grows.</summary>
        private readonly List<int> listedAt = new List<int>();
        private readonly Dictionary<string, int> positions = new Dictionary<string, int>(StringComparer.Ordinal);
        private readonly int[] counts = new int[Enum.GetValues(typeof(TestVerdict)).Length];

        public TestCounts(string projectPath, ReportFilter filter)
        {
            this.projectPath = projectPath;
            this.filter = filter;
        }

        /// <summary>In the order in which they first ended.</summary>
        public IReadOnlyList<TestCaseResult> Cases => cases;

        public int Completed => cases.Count;

        public int Passed => counts[(int)TestVerdict.Passed];

        public int Failed => counts[(int)TestVerdict.Failed];

        public int Skipped => counts[(int)TestVerdict.Skipped];

        public int Inconclusive => counts[(int)TestVerdict.Inconclusive];

        public IReadOnlyList<TestFailure> Failures => FirstFailures(int.MaxValue);

        public IReadOnlyList<TestFailure> FirstFailures(int atMost) => cases
            .Where(one => one.Verdict == TestVerdict.Failed)
            .Take(atMost)
            .Select(one => new TestFailure { Name = one.FullName, Message = one.Message, StackTrace = one.StackTrace })
            .ToList();

        /// <summary>What kept the filter from listing tests; null when nothing did.</summary>
        public string? Fault => filter.Fault;

        /// <summary>The listed tests that ended last, at most so many; null when none is to be listed.</summary>
        public IReadOnlyList<ReportedTest>? LastReported(int atMost) => filter.ListsAny
            ? listed.GetRange(Math.Max(0, listed.Count - atMost), Math.Min(atMost, listed.Count))
            : null;

        public void Add(TestCaseResult testCase)
        {
            counts[(int)testCase.Verdict]++;
            if (positions.TryGetValue(testCase.UniqueName, out var position))
            {
                counts[(int)cases[position].Verdict]--;
                cases[position] = testCase;
                List(position);
                return;
            }
            positions.Add(testCase.UniqueName, cases.Count);
            cases.Add(testCase);
            List(cases.Count - 1);
        }

        private void List(int position)
        {
            var at = listedAt.BinarySearch(position);
            if (at >= 0)
            {
                listed.RemoveAt(at);
                listedAt.RemoveAt(at);
            }
            if (!filter.Lists(cases[position])) return;
            at = ~listedAt.BinarySearch(position);
            listed.Insert(at, ReportedTest.Of(cases[position], projectPath));
            listedAt.Insert(at, position);
        }
    }
}
