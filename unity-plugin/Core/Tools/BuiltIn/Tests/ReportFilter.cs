#nullable enable
using System.Text.RegularExpressions;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Which finished tests a report lists one by one. Main thread only.</summary>
    internal sealed class ReportFilter
    {
        private readonly ReportedResults results;
        private readonly Regex? name;
        private bool isTooSlow;

        private ReportFilter(ReportedResults results, Regex? name)
        {
            this.results = results;
            this.name = name;
        }

        /// <summary>False when no test is listed, whatever its result.</summary>
        public bool ListsAny => results != ReportedResults.None || name != null;

        /// <summary>What kept it from listing tests; null when nothing did.</summary>
        public string? Fault => isTooSlow
            ? "ReportName takes too long to match: not every test was compared with it. Write a simpler regular expression."
            : null;

        /// <summary>Throws a ToolException of type invalid_arguments when ReportName is no regular expression.</summary>
        public static ReportFilter Of(RunTestsSchema parameters) => new ReportFilter(
            parameters.ReportResults,
            parameters.ReportName.Length == 0 ? null : TextFilter.Expression("ReportName", parameters.ReportName));

        public bool Lists(TestCaseResult testCase) => IsOfResults(testCase.Verdict) && IsNamed(testCase.FullName);

        private bool IsOfResults(TestVerdict verdict)
        {
            switch (results)
            {
                case ReportedResults.Failed:
                    return verdict == TestVerdict.Failed;
                case ReportedResults.Passed:
                    return verdict == TestVerdict.Passed;
                case ReportedResults.Skipped:
                    return verdict == TestVerdict.Skipped || verdict == TestVerdict.Inconclusive;
                case ReportedResults.All:
                    return true;
                default:
                    return name != null;
            }
        }

        /// <summary>Asked once for each test: an expression that was too slow once is not asked again.</summary>
        private bool IsNamed(string fullName)
        {
            if (name == null) return true;
            if (isTooSlow) return false;
            try
            {
                return name.IsMatch(fullName);
            }
            catch (RegexMatchTimeoutException)
            {
                isTooSlow = true;
                return false;
            }
        }
    }
}
