#nullable enable
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using UnityEditor.TestTools.TestRunner.Api;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// What the bridge asks of Unity's test framework, in its versions from 1.1 on. Main thread only.
    /// </summary>
    internal static class TestFramework
    {
#if JOB_BROKER_TESTS_CAN_CANCEL
        public const bool CanCancel = true;

        public static void Cancel(string guid) => TestRunnerApi.CancelTestRun(guid);
#else
        public const bool CanCancel = false;

        public static void Cancel(string guid)
        {
        }
#endif

        private const BindingFlags Anything = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public
            | BindingFlags.NonPublic | BindingFlags.FlattenHierarchy;

        private static readonly Type? Holder =
            typeof(TestRunnerApi).Assembly.GetType("UnityEditor.TestTools.TestRunner.TestRun.TestJobDataHolder");

        private static readonly PropertyInfo? Instance = Holder?.GetProperty("instance", Anything);
        private static readonly FieldInfo? Runs = Holder?.GetField("TestRuns", Anything);

        /// <summary>Read by its name: its own type is NUnit's, whose assembly this one does not refer to.</summary>
        private static readonly PropertyInfo? TypeInfo = typeof(ITestAdaptor).GetProperty("TypeInfo");

        private static readonly MethodInfo? RunActive =
            typeof(TestRunnerApi).GetMethod("IsRunActive", Anything, null, Type.EmptyTypes, null);

        public static ExecutionSettings Settings(TestRunRequest request) => new ExecutionSettings(FilterOf(request));

        public static TestMode ModeOf(TestPlatform platform) =>
            platform == TestPlatform.PlayMode ? TestMode.PlayMode : TestMode.EditMode;

        /// <summary>
        /// The jobs of the runs that are under way, their clean-up included, also of those that a person began, by the ids that
        /// Execute returns; null where it cannot be known. The list is internal to the framework.
        /// </summary>
        public static IReadOnlyList<string>? Jobs()
        {
            if (!(Runs?.GetValue(Instance?.GetValue(null)) is IEnumerable jobs)) return null;
            return jobs.Cast<object>().Where(job => FieldOf(job, "isRunning") is true).Select(job => FieldOf(job, "guid") as string ?? "").ToList();
        }

        /// <summary>Internal too; in 1.1 it tells only of a run of the command line.</summary>
        public static bool IsRunActive() => RunActive?.Invoke(null, null) is true;

        /// <summary>
        /// How many of the tree's tests the request means; the tree may hold those that its filter leaves out.
        /// </summary>
        public static int Count(ITestAdaptor tree, TestRunRequest request)
        {
            if (request.Picked != null) return request.Picked.Count;
            // After a domain reload the run's record knows how many an expression meant.
            var isExpression = request.FilterKind == TestFilterKind.Regex || request.FilterKind == TestFilterKind.Category;
            return isExpression ? 0 : Count(tree, request, "");
        }

        public static TestTreeNode NodeOf(ITestAdaptor root) => NodeOf(root, "");

        public static TestCaseResult Result(ITestResultAdaptor result) => new TestCaseResult(
            result.FullName,
            VerdictOf(result.TestStatus),
            result.Duration,
            result.Message ?? "",
            result.StackTrace ?? "",
            result.Test.UniqueName,
            ClassOf(result.Test));

        /// <summary>
        /// The nearest node above that is a class: a method with several cases is a node too. A test that goes on behind a domain
        /// reload has none above it, but its type.
        /// </summary>
        private static string? ClassOf(ITestAdaptor test)
        {
            for (var node = test.Parent; node != null; node = node.Parent)
            {
                if (TypeInfo?.GetValue(node) != null) return node.FullName;
            }
            var type = TypeInfo?.GetValue(test);
            return type?.GetType().GetProperty("FullName")?.GetValue(type) as string;
        }

        private static object? FieldOf(object job, string field) => job.GetType().GetField(field, Anything)?.GetValue(job);

        private static int Count(ITestAdaptor node, TestRunRequest request, string assembly)
        {
            var within = node.IsTestAssembly ? node.Name : assembly;
            if (node.IsSuite) return Children(node).Sum(child => Count(child, request, within));
            if (node.RunState != RunState.Runnable) return 0;
            return TestSelection.Means(request.FilterKind, request.FilterValue, node.FullName, within) ? 1 : 0;
        }

        private static TestTreeNode NodeOf(ITestAdaptor node, string name) => new TestTreeNode(
            name,
            node.IsSuite,
            StateOf(node.RunState),
            node.Categories,
            Children(node).Select(child => NodeOf(child, child.IsTestAssembly ? child.Name : TestSelection.FilterName(child.FullName, child.ChildIndex))).ToList(),
            node.IsTestAssembly);

        private static TestNodeState StateOf(RunState state)
        {
            switch (state)
            {
                case RunState.Runnable:
                    return TestNodeState.Runnable;
                case RunState.Explicit:
                    return TestNodeState.Explicit;
                default:
                    return TestNodeState.Skipped;
            }
        }

        private static IEnumerable<ITestAdaptor> Children(ITestAdaptor node) =>
            node.Children ?? Enumerable.Empty<ITestAdaptor>();

        private static Filter FilterOf(TestRunRequest request)
        {
            var filter = new Filter { testMode = ModeOf(request.Platform) };
            var value = new[] { request.FilterValue };
            if (request.FilterKind == TestFilterKind.Exact) filter.testNames = value;
            if (request.FilterKind == TestFilterKind.Assembly) filter.assemblyNames = new[] { TestSelection.Bare(value[0]) };
            if (request.Picked?.Names != null) filter.testNames = request.Picked.Names.ToArray();
            return filter;
        }

        private static TestVerdict VerdictOf(TestStatus status)
        {
            switch (status)
            {
                case TestStatus.Passed:
                    return TestVerdict.Passed;
                case TestStatus.Failed:
                    return TestVerdict.Failed;
                case TestStatus.Skipped:
                    return TestVerdict.Skipped;
                default:
                    return TestVerdict.Inconclusive;
            }
        }
    }
}
