#nullable enable
using System;
using System.ComponentModel;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class SetBuildTargetSchema
    {
        [Description("The platform by Unity's name, for example Android")]
        public string BuildTarget { get; set; } = "";

        [Description("Unity 6, instead: path of a build profile")]
        public string BuildProfile { get; set; } = "";
    }

    public sealed class SetBuildTargetResponse
    {
        public bool Success { get; set; }

        public string BuildTarget { get; set; } = "";

        /// <summary>Path of the active profile; null without one.</summary>
        public string? BuildProfile { get; set; }

        /// <summary>False when the Editor was switched to it already.</summary>
        public bool Changed { get; set; }

        /// <summary>Null when the rest says it all.</summary>
        public string? Message { get; set; }
    }

    /// <summary>
    /// Switches the Editor to a platform; ends when its assets are imported and its scripts compiled, behind the domain reload
    /// that this makes.
    /// </summary>
    [McpTool(
        Name = "set-build-target",
        Description = "Switches the Editor to a platform or build profile; ends when Unity has imported and compiled for it.",
        Effect = ToolEffect.Idempotent,
        ExecutionClass = ExecutionClass.Long,
        RequiredSecuritySetting = SecuritySetting.BuildExecution)]
    public sealed class SetBuildTargetTool : AbstractUnityTool<SetBuildTargetSchema, SetBuildTargetResponse>, IResumableTool
    {
        private const long DeadlineMs = 60 * 60_000;

        private const string DeadlineKey = "deadlineAt";

        private readonly ToolServices services;

        public SetBuildTargetTool(ToolServices services)
        {
            this.services = services;
        }

        public async Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context)
        {
            var deadline = (long?)(resumeRecord as JObject)?[DeadlineKey];
            if (deadline != null) return ToolJson.From(await Settled(Bind(arguments), deadline.Value, context));
            throw new ToolException(
                ToolException.DomainReload, "A domain reload came before the switch began; call again if it is still wanted.");
        }

        protected override async Task<SetBuildTargetResponse> ExecuteAsync(SetBuildTargetSchema parameters, ToolContext context)
        {
            BuildTargets.Check(services.Builds, parameters.BuildTarget, parameters.BuildProfile);
            if (IsActive(parameters)) return Answer(false);
            EditorRest.RefuseInPlayMode(services);
            var deadline = services.Clock.NowMs + DeadlineMs;
            context.SaveResumeRecord(new JObject { [DeadlineKey] = deadline });
            context.Progress.Report(0, 2, "Unity imports the assets");
            var refusal = parameters.BuildProfile.Length > 0
                ? services.Builds.SwitchToProfile(parameters.BuildProfile)
                : services.Builds.Switch(BuildTargets.NameOf(services.Builds, parameters.BuildTarget));
            if (refusal != null) throw new ToolException("switch_refused", $"The Editor was not switched: {refusal.TrimEnd('.')}. Remove that reason (get-logs may say more), then call again.");
            return await Settled(parameters, deadline, context);
        }

        private async Task<SetBuildTargetResponse> Settled(SetBuildTargetSchema parameters, long deadline, ToolContext context)
        {
            context.Progress.Report(1, 2, "Unity compiles the scripts");
            var rest = new EditorRest(services);
            var left = Math.Max(0, deadline - services.Clock.NowMs);
            var isOver = await services.Ticks.WhenAsync(rest.Look, left, CancellationToken.None);
            if (isOver && IsActive(parameters)) return Answer(true);
            throw new ToolException(
                ToolException.OutcomeUnknown,
                isOver
                    ? $"Unity was asked to switch, and is at rest on {Present()}. The Console (get-logs) may say why."
                    : "Unity has not come to rest in time; it may still be switching.");
        }

        private bool IsActive(SetBuildTargetSchema wanted) => wanted.BuildProfile.Length > 0
            ? services.Builds.ActiveProfile == wanted.BuildProfile
            : string.Equals(services.Builds.ActiveTarget, wanted.BuildTarget, StringComparison.OrdinalIgnoreCase);

        private string Present() => services.Builds.ActiveProfile ?? services.Builds.ActiveTarget;

        private SetBuildTargetResponse Answer(bool changed) => new SetBuildTargetResponse
        {
            Success = true,
            BuildTarget = services.Builds.ActiveTarget,
            BuildProfile = services.Builds.ActiveProfile,
            Changed = changed,
            Message = services.Editor.Phase == "compile_errors"
                ? "Scripts do not compile for it; compile shows the errors."
                : null,
        };
    }
}
