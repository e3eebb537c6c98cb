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
        public TestRunRequest(
            string runId,
            TestPlatform platform,
            TestFilterKind filterKind,
            string filterValue,
            bool disablesDomainReload = false,
            PickedTests? picked = null)
        {
            RunId = runId;
            Platform = platform;
            FilterKind = filterKind;
            FilterValue = filterValue;
            DisablesDomainReload = disablesDomainReload;
            Picked = picked;
        }

        /// <summary>Names the run over domain reloads: the operation's id.</summary>
        public string RunId { get; }

        public TestPlatform Platform { get; }

        public TestFilterKind FilterKind { get; }

        public string FilterValue { get; }

        /// <summary>
        /// Whether a PlayMode run enters play mode without a domain reload; false leaves that to the project's own settings.
        /// </summary>
        public bool DisablesDomainReload { get; }

        /// <summary>
        /// The tests that an expression means; null for a filter that the framework reads itself, and after a domain reload.
        /// </summary>
        public PickedTests? Picked { get; }
    }

    /// <summary>A scene or prefab with changes that are not on disk: the framework would ask about it in a dialog.</summary>
    public sealed class UnsavedScene
    {
        public UnsavedScene(string name, string path, bool isPrefab = false)
        {
            Name = name;
            Path = path;
            IsPrefab = isPrefab;
        }

        public string Name { get; }

        /// <summary>Relative to the project; empty for a scene that has no file yet.</summary>
        public string Path { get; }

        /// <summary>It is a prefab that is open in Prefab Mode.</summary>
        public bool IsPrefab { get; }
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
            string? uniqueName = null,
            string? className = null)
        {
            FullName = fullName;
            Verdict = verdict;
            Seconds = seconds;
            Message = message;
            StackTrace = stackTrace;
            UniqueName = uniqueName ?? fullName;
            ClassName = className ?? "";
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

        /// <summary>
        /// The full name of the test's class, with the arguments of a fixture; empty where the framework does not tell. A full name
        /// alone does not say where it ends: tests may be given any names.
        /// </summary>
        public string ClassName { get; }
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
    /// <see cref="AttachAsync"/> registers again, and what ended before that is told then. The task ends when the run's clean-up
    /// has ended and play mode has been left; it fails when the framework reports an error of the run.
    /// </summary>
    public interface ITestRunner
    {
        /// <summary>The project's tests of a platform, as they are compiled.</summary>
        Task<TestTreeNode> ListAsync(TestPlatform platform);

        /// <param name="request">An expression comes with the tests that it means: the framework compares without a limit.</param>
        Task RunAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation);

        /// <summary>
        /// Listens again to a run that a domain reload cut off; null when the framework no longer runs it.
        /// </summary>
        Task? AttachAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation);

        /// <summary>False where the test framework cannot stop a run (before 1.4).</summary>
        bool CanCancel { get; }

        /// <summary>What has unsaved changes, in the order of the Hierarchy.</summary>
        IReadOnlyList<UnsavedScene> UnsavedScenes();

        /// <summary>Saves scenes that have a file, without a dialog; returns those that could not be saved.</summary>
        IReadOnlyList<UnsavedScene> SaveScenes(IReadOnlyList<UnsavedScene> scenes);
    }
}
