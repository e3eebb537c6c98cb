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

        bool IsTestAssembly { get; }

        IEnumerable<ITestAdaptor> Children { get; }

        string[] Categories { get; }

        RunState RunState { get; }
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
            StubEditor.CancelledRuns.Add(guid);
            return true;
        }
#endif

        public string Execute(ExecutionSettings executionSettings)
        {
            StubEditor.TestRuns.Add(executionSettings);
            StubEditor.IsTestRunActive = true;
            return "guid-" + StubEditor.TestRuns.Count;
        }

        public void RegisterCallbacks<T>(T testCallbacks, int priority = 0) where T : ICallbacks =>
            StubEditor.TestCallbacks.Add(testCallbacks);

        public void UnregisterCallbacks<T>(T testCallbacks) where T : ICallbacks =>
            StubEditor.TestCallbacks.Remove(testCallbacks);

        internal static bool IsRunActive() => StubEditor.IsTestRunActive;
    }
}
