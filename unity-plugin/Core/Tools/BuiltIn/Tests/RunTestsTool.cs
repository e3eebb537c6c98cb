#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class RunTestsResponse
    {
        /// <summary>True when a test ran and none failed or went missing.</summary>
        public bool Success { get; set; }

        public TestPlatform TestMode { get; set; }

        [JsonProperty("completed")]
        public int Completed { get; set; }

        [JsonProperty("total")]
        public int Total { get; set; }

        [JsonProperty("passed")]
        public int Passed { get; set; }

        [JsonProperty("failed")]
        public int Failed { get; set; }

        [JsonProperty("skipped")]
        public int Skipped { get; set; }

        [JsonProperty("inconclusive")]
        public int Inconclusive { get; set; }

        [JsonProperty("failures")]
        public IReadOnlyList<TestFailure> Failures { get; set; } = Array.Empty<TestFailure>();

        /// <summary>The finished tests that were asked for, in the order in which they first ended; null when none were.</summary>
        [JsonProperty("cases")]
        public IReadOnlyList<ReportedTest>? Cases { get; set; }

        /// <summary>Absolute path of the NUnit file; null when none was asked for.</summary>
        public string? XmlPath { get; set; }

        /// <summary>Null when the counts suffice.</summary>
        public string? Message { get; set; }
    }

    /// <summary>
    /// Runs the tests of the scripts as they are on the disk; each finished one is a partial result, and the run goes on after a
    /// domain reload.
    /// </summary>
    [McpTool(
        Name = "run-tests",
        Description = "Imports and compiles what changed on the disk, then runs the project's tests and reports each as it ends.",
        Effect = ToolEffect.Idempotent,
        Cancellable = true,
        ExecutionClass = ExecutionClass.Medium,
        RequiredSecuritySetting = SecuritySetting.TestExecution)]
    public sealed class RunTestsTool : AbstractUnityTool<RunTestsSchema, RunTestsResponse>, IResumableTool,
        IConditionallyCancellable
    {
        private readonly ToolServices services;

        public RunTestsTool(ToolServices services)
        {
            this.services = services;
        }

        public bool CanBeCancelled => services.Tests.CanCancel;

        public async Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context)
        {
            var parameters = Bind(arguments);
            if (TestPreparation.IsUnderWay(resumeRecord))
            {
                return ToolJson.From(await Prepared(parameters, context, preparation => preparation.GoOnAsync()));
            }
            var run = TestRun.Resumed(services, context, resumeRecord, ReportFilter.Of(parameters));
            var resumed = services.Tests.AttachAsync(Request(parameters, context, null), run, Stop(context));
            if (resumed != null) await Ended(resumed, run);
            else if (!run.IsComplete) throw Cut(run);
            return ToolJson.From(Finish(parameters, run));
        }

        protected override Task<RunTestsResponse> ExecuteAsync(RunTestsSchema parameters, ToolContext context)
        {
            Check(parameters);
            return Prepared(parameters, context, preparation => preparation.BeginAsync());
        }

        /// <summary>The run, once everything that precedes it has ended; nothing of it has begun before.</summary>
        private async Task<RunTestsResponse> Prepared(
            RunTestsSchema parameters,
            ToolContext context,
            Func<TestPreparation, Task<PickedTests?>> prepare)
        {
            var filter = ReportFilter.Of(parameters);
            var picked = await prepare(new TestPreparation(services, context, parameters));
            TestRunGate.Pass(services, parameters.UnsavedScenes);
            var run = TestRun.Begin(services, context, filter, picked?.Count ?? -1);
            var isEmpty = picked?.Names is { Count: 0 };
            if (!isEmpty) await Ended(services.Tests.RunAsync(Request(parameters, context, picked), run, Stop(context)), run);
            return Finish(parameters, run);
        }

        private static void Check(RunTestsSchema parameters)
        {
            if (parameters.FilterType != TestFilter.All && parameters.FilterValue.Length == 0)
            {
                throw new ToolException(
                    ToolException.InvalidArguments,
                    $"FilterValue is required when FilterType is {ToolJson.From(parameters.FilterType)}.");
            }
            TestPick.Check(KindOf(parameters.FilterType), parameters.FilterValue);
        }

        private static TestRunRequest Request(RunTestsSchema parameters, ToolContext context, PickedTests? picked) =>
            new TestRunRequest(
                context.OperationId,
                parameters.TestMode,
                KindOf(parameters.FilterType),
                parameters.FilterValue,
                parameters.ReloadDomain == DomainReload.Disable,
                picked);

        internal static TestFilterKind KindOf(TestFilter filter)
        {
            switch (filter)
            {
                case TestFilter.Exact:
                    return TestFilterKind.Exact;
                case TestFilter.Regex:
                    return TestFilterKind.Regex;
                case TestFilter.Assembly:
                    return TestFilterKind.Assembly;
                case TestFilter.Category:
                    return TestFilterKind.Category;
                default:
                    return TestFilterKind.All;
            }
        }

        /// <summary>
        /// A framework that cannot stop a run is not asked to: the run would go on behind a cancelled outcome.
        /// </summary>
        private CancellationToken Stop(ToolContext context) =>
            services.Tests.CanCancel ? context.Cancellation : CancellationToken.None;

        private RunTestsResponse Finish(RunTestsSchema parameters, TestRun run)
        {
            var counts = run.Counts;
            string? xmlPath = null;
            var message = $"{MessageOf(counts)} {counts.Fault}".Trim();
            if (parameters.SaveXml)
            {
                try
                {
                    xmlPath = run.SaveXml(parameters.TestMode);
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
                {
                    message = $"{message} The NUnit file could not be written: {error.Message}".Trim();
                }
            }
            run.Forget();
            return new RunTestsResponse
            {
                Success = counts.Failed == 0 && counts.Completed > 0 && run.IsComplete,
                TestMode = parameters.TestMode,
                Completed = counts.Completed,
                Total = run.Total,
                Passed = counts.Passed,
                Failed = counts.Failed,
                Skipped = counts.Skipped,
                Inconclusive = counts.Inconclusive,
                Failures = counts.Failures,
                Cases = counts.LastReported(int.MaxValue),
                XmlPath = xmlPath,
                Message = message.Length == 0 ? null : message,
            };

            string? MessageOf(TestCounts counted)
            {
                if (!run.IsComplete) return $"Only {counted.Completed} of {run.Total} tests reported their result.";
                return counted.Completed == 0 ? "No test fits; see TestMode and the filter." : null;
            }
        }

        private static async Task Ended(Task running, TestRun run)
        {
            try
            {
                await running;
            }
            catch (Exception error) when (!(error is OperationCanceledException) && !(error is ToolException))
            {
                throw new ToolException(
                    "test_run_failed",
                    $"The test framework gave up after {run.Counts.Completed} tests ({run.Counts.Failed} failed): "
                    + error.Message,
                    error,
                    error.StackTrace);
            }
        }

        private static ToolException Cut(TestRun run) => new ToolException(
            ToolException.DomainReload,
            $"A domain reload ended the test run behind {run.Counts.Completed} of {run.Total} tests "
            + $"({run.Counts.Failed} failed); the test framework no longer runs it.");
    }
}
