#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Security;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class BatchStep
    {
        [RequiredParameter]
        public string Tool { get; set; } = "";

        public Dictionary<string, JToken> Arguments { get; set; } = new Dictionary<string, JToken>();
    }

    public sealed class RunBatchSchema
    {
        [Description("Run in order; checked before the first runs")]
        [RequiredParameter]
        public BatchStep[] Steps { get; set; } = Array.Empty<BatchStep>();

        [Description("Go on after a step that fails")]
        public bool ContinueOnError { get; set; }
    }

    public sealed class BatchStepResult
    {
        [JsonProperty("tool")]
        public string Tool { get; set; } = "";

        /// <summary>done, failed or not_run.</summary>
        [JsonProperty("status")]
        public string Status { get; set; } = "not_run";

        [JsonProperty("result")]
        public JToken? Result { get; set; }

        [JsonProperty("error")]
        public BatchError? Error { get; set; }
    }

    public sealed class BatchError
    {
        [JsonProperty("type")]
        public string Type { get; set; } = "";

        [JsonProperty("message")]
        public string Message { get; set; } = "";
    }

    public sealed class RunBatchResponse
    {
        /// <summary>True when every step was done.</summary>
        [JsonProperty("success")]
        public bool Success { get; set; }

        [JsonProperty("done")]
        public int Done { get; set; }

        [JsonProperty("failed")]
        public int Failed { get; set; }

        [JsonProperty("notRun")]
        public int NotRun { get; set; }

        [JsonProperty("steps")]
        public IReadOnlyList<BatchStepResult> Steps { get; set; } = Array.Empty<BatchStepResult>();
    }

    /// <summary>Runs several tools as one operation and one step of Undo; what was done before a failure stays.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Runs a list of scene tools as one operation and one Undo step; stops at the first that fails.",
        Effect = ToolEffect.Mutating,
        Destructive = true,
        ExecutionClass = ExecutionClass.Medium,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class RunBatchTool : AbstractUnityTool<RunBatchSchema, RunBatchResponse>
    {
        public const string ToolName = "run-batch";
        private const int MostSteps = 200;

        private readonly ToolServices services;

        public RunBatchTool(ToolServices services)
        {
            this.services = services;
        }

        protected override async Task<RunBatchResponse> ExecuteAsync(RunBatchSchema parameters, ToolContext context)
        {
            var steps = Checked(parameters.Steps);
            var results = steps.Select(step => new BatchStepResult { Tool = step.Tool.Name }).ToList();
            using (var undo = services.Objects.BeginUndo(ToolName))
            {
                for (var index = 0; index < steps.Count; index++)
                {
                    if (context.Cancellation.IsCancellationRequested) break;
                    await Run(steps[index], results[index], context);
                    context.Progress.Report(index + 1, steps.Count, null, Told(results));
                    if (results[index].Error != null && !parameters.ContinueOnError) break;
                }
                undo.Complete();
            }
            return Told(results);
        }

        /// <summary>Every step with its tool, its permission and its arguments looked at; nothing has run then.</summary>
        private List<Step> Checked(BatchStep[] given)
        {
            if (given.Length == 0 || given.Length > MostSteps)
            {
                throw new ToolException(ToolException.InvalidArguments, $"Steps must be from 1 to {MostSteps}, not {given.Length}.");
            }
            var tools = services.Tools;
            var security = new McpSecurityChecker(tools, services.Security);
            var steps = new List<Step>();
            for (var index = 0; index < given.Length; index++)
            {
                var name = given[index].Tool;
                var tool = tools.Get(name);
                if (tool == null || !tool.RunsInBatches)
                {
                    var known = tools.All().Where(one => one.RunsInBatches).Select(one => one.Name).ToList();
                    throw new ToolException(
                        ToolException.InvalidArguments,
                        $"Step {index}: {name} cannot run in a batch.{Nearest.Hint(known, name)} Those that can are {string.Join(", ", known)}. "
                            + "Nothing has run.");
                }
                var arguments = JObject.FromObject(given[index].Arguments);
                // Asked at submission as well; the settings may have changed while the call waited for its turn.
                var refusal = security.Refusal(name, arguments);
                if (refusal != null) throw new ToolException("security_blocked", $"Step {index}: {refusal} Nothing has run.");
                Check(tool, arguments, index);
                steps.Add(new Step(tool, arguments));
            }
            return steps;
        }

        private static void Check(RegisteredTool tool, JObject arguments, int index)
        {
            try
            {
                (tool.Tool as IChecksArguments)?.Check(arguments);
            }
            catch (ToolException error)
            {
                throw new ToolException(error.Type, $"Step {index} ({tool.Name}): {error.Message} Nothing has run.", error);
            }
        }

        private static async Task Run(Step step, BatchStepResult result, ToolContext context)
        {
            try
            {
                result.Result = ToolJson.From(await step.Tool.Tool.ExecuteAsync(step.Arguments, context));
                result.Status = "done";
            }
            catch (Exception error)
            {
                result.Status = "failed";
                var type = (error as ToolException)?.Type ?? "internal_error";
                result.Error = new BatchError { Type = type, Message = error.Message };
            }
        }

        private static RunBatchResponse Told(IReadOnlyList<BatchStepResult> results) => new RunBatchResponse
        {
            Success = results.All(one => one.Status == "done"),
            Done = results.Count(one => one.Status == "done"),
            Failed = results.Count(one => one.Status == "failed"),
            NotRun = results.Count(one => one.Status == "not_run"),
            Steps = results,
        };

        private sealed class Step
        {
            public Step(RegisteredTool tool, JObject arguments)
            {
                Tool = tool;
                Arguments = arguments;
            }

            public RegisteredTool Tool { get; }

            public JObject Arguments { get; }
        }
    }
}
