#nullable disable
using System;
using System.Collections.Generic;
using JobBroker.EditorStubs;
using UnityEngine;

namespace UnityEditor.TestTools.TestRunner.Api
{
    [Flags]
    public enum TestMode
    {
        EditMode = 1,
        PlayMode = 2,
    }

    public enum TestStatus
    {
        Inconclusive,
        Skipped,
        Passed,
        Failed,
    }

    public enum RunState
    {
        NotRunnable,
        Runnable,
        Explicit,
        Skipped,
        Ignored,
    }

    public class Filter
    {
        public TestMode testMode;
        public string[] testNames;
        public string[] groupNames;
        public string[] categoryNames;
        public string[] assemblyNames;
    }

    public class ExecutionSettings
    {
        public Filter[] filters;

        public ExecutionSettings(params Filter[] filtersToExecute)
        {
            filters = filtersToExecute;
        }
    }

    public interface ITestAdaptor
    {
        string Name { get; }

        string FullName { get; }

        string UniqueName { get; }

        bool IsSuite { get; }

        ITestAdaptor Parent { get; }

        /// <summary>Of a class of tests, and of a test in one; else null. Its type is NUnit's, which has a full name.</summary>
        object TypeInfo { get; }

        bool IsTestAssembly { get; }

        IEnumerable<ITestAdaptor> Children { get; }

        string[] Categories { get; }

        RunState RunState { get; }

        /// <summary>-1, but for one of several children of the same name.</summary>
        int ChildIndex { get; }
    }

    public interface ITestResultAdaptor
    {
        ITestAdaptor Test { get; }

        string FullName { get; }

        TestStatus TestStatus { get; }

        double Duration { get; }

        string Message { get; }

        string StackTrace { get; }
    }

    public interface ICallbacks
    {
        void RunStarted(ITestAdaptor testsToRun);

        void RunFinished(ITestResultAdaptor result);

        void TestStarted(ITestAdaptor test);

        void TestFinished(ITestResultAdaptor result);
    }

    public interface IErrorCallbacks : ICallbacks
    {
        void OnError(string message);
    }

    public class TestRunnerApi : ScriptableObject
    {
#if JOB_BROKER_TESTS_CAN_CANCEL
        public static bool CancelTestRun(string guid)
        {
            // The run's clean-up follows; no callback tells of its end.
            StubEditor.CancelledRuns.Add(guid);
            return true;
        }
#endif

        public string Execute(ExecutionSettings executionSettings)
        {
            StubEditor.TestRuns.Add(executionSettings);
            StubEditor.BeginTestJob();
            return StubEditor.TestJobs[StubEditor.TestJobs.Count - 1].guid;
        }

        /// <summary>Calls back on a later tick.</summary>
        public void RetrieveTestList(TestMode testMode, Action<ITestAdaptor> callback) =>
            StubEditor.TestListRequests.Add((testMode, callback));

        public void RegisterCallbacks<T>(T testCallbacks, int priority = 0) where T : ICallbacks =>
            StubEditor.TestCallbacks.Add(testCallbacks);

        public void UnregisterCallbacks<T>(T testCallbacks) where T : ICallbacks =>
            StubEditor.TestCallbacks.Remove(testCallbacks);

        /// <summary>In 1.1 only a run of the command line counts; later any, until its clean-up has ended.</summary>
        internal static bool IsRunActive() => StubEditor.HasOldTestFramework
            ? StubEditor.IsCommandLineRun
            : StubEditor.TestJobs.Count > 0;
    }
}

namespace UnityEditor.TestTools.TestRunner.TestRun
{
    internal class TestJobData
    {
        public string guid;
        public bool isRunning = true;
    }

    internal class TestJobDataHolder : ScriptableSingleton<TestJobDataHolder>
    {
        public List<TestJobData> TestRuns = new List<TestJobData>();
    }
}
