#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Ports
{
    public enum TestPlatform
    {
        EditMode,
        PlayMode,
    }

    public enum TestFilterKind
    {
        All,
        Exact,
        Regex,
        Assembly,
        Category,
    }

    public sealed class TestRunRequest
    {
        public TestRunRequest(string runId, TestPlatform platform, TestFilterKind filterKind, string filterValue)
        {
            RunId = runId;
            Platform = platform;
            FilterKind = filterKind;
            FilterValue = filterValue;
        }

        /// <summary>Names the run over domain reloads: the operation's id.</summary>
        public string RunId { get; }

        public TestPlatform Platform { get; }

        public TestFilterKind FilterKind { get; }

        public string FilterValue { get; }
    }

    public enum TestVerdict
    {
        Passed,
        Failed,
        Skipped,
        Inconclusive,
    }

    public sealed class TestCaseResult
    {
        public TestCaseResult(
            string fullName,
            TestVerdict verdict,
            double seconds,
            string message,
            string stackTrace,
            string? uniqueName = null)
        {
            FullName = fullName;
            Verdict = verdict;
            Seconds = seconds;
            Message = message;
            StackTrace = stackTrace;
            UniqueName = uniqueName ?? fullName;
        }

        public string FullName { get; }

        public TestVerdict Verdict { get; }

        public double Seconds { get; }

        public string Message { get; }

        public string StackTrace { get; }

        /// <summary>
        /// Distinguishes two cases of the same full name (two assemblies); the full name unless given.
        /// </summary>
        public string UniqueName { get; }
    }

    /// <summary>Receives the events of a test run. Called on the main thread.</summary>
    public interface ITestRunListener
    {
        /// <summary>
        /// The run begins with so many test cases; after a domain reload it may be reported again: the larger number
        /// counts.
        /// </summary>
        void Started(int totalCases);

        void Finished(TestCaseResult testCase);
    }

    /// <summary>
    /// The Editor's test framework. Main thread only. A run survives a domain reload by itself, its callbacks do not:
    /// <see cref="AttachAsync"/> registers again. The task fails when the framework reports an error of the run.
    /// </summary>
    public interface ITestRunner
    {
        Task RunAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation);

        /// <summary>
        /// Listens again to a run that a domain reload cut off; null when the framework no longer runs it.
        /// </summary>
        Task? AttachAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation);

        /// <summary>False where the test framework cannot stop a run (before 1.4).</summary>
        bool CanCancel { get; }
    }
}
