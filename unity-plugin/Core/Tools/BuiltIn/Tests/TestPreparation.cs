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

        private const int RestMs = 20 * 60_000;

        /// <summary>How long a domain reload may stay away once the scripts are compiled.</summary>
        private const int ReloadMs = 30_000;

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
        public async Task<PickedTests?> BeginAsync()
        {
            TestRunGate.Look(services, parameters.UnsavedScenes);
            // Before the refresh: the reload that follows it must find the record.
            context.SaveResumeRecord(new JObject { [PhaseKey] = Phase });
            context.Progress.Report(0, null, "Unity looks for changed files");
            await RestAsync(services.Compiler.RefreshAsync());
            return await PickAsync();
        }

        /// <summary>The same after a domain reload, by which the scripts that were found are loaded.</summary>
        public async Task<PickedTests?> GoOnAsync()
        {
            await RestAsync(null);
            return await PickAsync();
        }

        /// <summary>Ends when Unity neither imports nor compiles; where it compiles, a domain reload mostly ends it.</summary>
        private async Task RestAsync(Task<CompileOutcome>? compilation)
        {
            var rest = new EditorRest(services);
            var isSaid = false;
            var isOver = await services.Ticks.WhenAsync(IsAtRest, RestMs, context.Cancellation);
            if (!isOver) throw NotReady($"Unity has not come to rest within {RestMs / 60_000} min");
            if (compilation == null || !(await compilation).ReloadFollows) return;
            await services.Ticks.WhenAsync(() => false, ReloadMs, context.Cancellation);
            throw NotReady(
                "Unity has compiled changed scripts and not loaded them, so that its tests are the old ones; something may keep it "
                + "from reloading (EditorApplication.LockReloadAssemblies)");

            bool IsAtRest()
            {
                compilation ??= services.Compiler.PendingAsync();
                if (compilation == null || compilation.IsCompleted) return rest.Look();
                if (!isSaid) context.Progress.Report(0, null, "Unity compiles changed scripts");
                isSaid = true;
                return false;
            }
        }

        private async Task<PickedTests?> PickAsync()
        {
            var kind = RunTestsTool.KindOf(parameters.FilterType);
            while (true)
            {
                TestRunGate.RefuseBroken(services);
                if (!TestPick.IsNeeded(kind)) return null;
                var tests = await ListAsync();
                if (!IsBusy) return TestPick.From(tests, kind, parameters.FilterValue, services.Clock);
                // Somebody has changed a script meanwhile.
                await RestAsync(null);
            }
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

        private bool IsBusy => services.Editor.Phase == "compiling" || services.Editor.Phase == "importing";

        private static ToolException NotReady(string why) =>
            new ToolException("editor_not_ready", $"{why}. No test ran. Look at the Editor, then call run-tests again.");

        private static ToolException Unlisted(string reason, Exception? error = null) => new ToolException(
            "test_run_failed",
            $"The test framework did not list the tests: {reason.TrimEnd('.')}. The Console (get-logs) may say more. No test ran.",
            error);
    }
}
