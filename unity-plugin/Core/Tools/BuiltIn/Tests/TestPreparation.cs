#nullable enable
using System;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// What precedes a run of tests, while nothing of it has begun. The resume record says so: after a domain reload the
    /// preparation goes on, where a run that had begun is only listened to again. Main thread only.
    /// </summary>
    internal sealed class TestPreparation
    {
        private const string PhaseKey = "phase";
        private const string Phase = "preparing";

        /// <summary>The framework lists on ticks of the Editor, and tells nobody when it fails.</summary>
        private const int ListMs = 120_000;

        private readonly ToolServices services;
        private readonly ToolContext context;
        private readonly RunTestsSchema parameters;

        public TestPreparation(ToolServices services, ToolContext context, RunTestsSchema parameters)
        {
            this.services = services;
            this.context = context;
            this.parameters = parameters;
        }

        /// <summary>Whether the record is of a preparation: no test of the operation can have begun.</summary>
        public static bool IsUnderWay(JToken? resumeRecord) => (string?)(resumeRecord as JObject)?[PhaseKey] == Phase;

        /// <summary>Returns the tests that an expression means; null for a filter that the framework reads itself.</summary>
        public Task<PickedTests?> BeginAsync()
        {
            TestRunGate.Look(services, parameters.UnsavedScenes);
            context.SaveResumeRecord(new JObject { [PhaseKey] = Phase });
            return GoOnAsync();
        }

        /// <summary>The same after a domain reload.</summary>
        public async Task<PickedTests?> GoOnAsync()
        {
            TestRunGate.RefuseBroken(services);
            var kind = RunTestsTool.KindOf(parameters.FilterType);
            if (!TestPick.IsNeeded(kind)) return null;
            return TestPick.From(await ListAsync(), kind, parameters.FilterValue, services.Clock);
        }

        private async Task<TestTreeNode> ListAsync()
        {
            context.Progress.Report(0, null, "Lists the tests");
            try
            {
                var list = services.Tests.ListAsync(parameters.TestMode);
                var isListed = list.IsCompleted
                    || await services.Ticks.WhenAsync(() => list.IsCompleted, ListMs, context.Cancellation);
                if (isListed) return await list;
            }
            catch (Exception error) when (!(error is OperationCanceledException))
            {
                throw Unlisted(error.Message, error);
            }
            throw Unlisted($"it has not answered within {ListMs / 1000} s");
        }

        private static ToolException Unlisted(string reason, Exception? error = null) => new ToolException(
            "test_run_failed",
            $"The test framework did not list the tests: {reason.TrimEnd('.')}. The Console (get-logs) may say more. No test ran.",
            error);
    }
}
