#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class BuildPlayerSchema
    {
        [Description("The platform by Unity's name, for example Android, StandaloneWindows64, WebGL; the Editor must "
            + "be switched to it")]
        [RequiredParameter]
        public string BuildTarget { get; set; } = "";

        [Description("Unity 6: path of the build profile to build, the active one; it brings its own scenes")]
        public string BuildProfile { get; set; } = "";

        [Description("Where the player goes, from the project's folder: a folder, in which each platform has its own, "
            + "or a file")]
        public string OutputPath { get; set; } = "Builds";

        public bool Development { get; set; }

        [Description("Paths of the scenes; empty for those of the build settings")]
        public string[] Scenes { get; set; } = Array.Empty<string>();

        [Description("List every file of the player, with its size")]
        public bool EveryFile { get; set; }

        [Description("Put the contents of files up to this many bytes into the result, 1 MB in all; 0 for none. They are read "
            + "as resources")]
        [ParameterRange(Minimum = 0, Maximum = FileContents.MostOfFile)]
        public int IncludeFilesUpTo { get; set; }
    }

    public sealed class BuildPlayerResponse
    {
        public bool Success { get; set; }

        public string BuildTarget { get; set; } = "";

        public string OutputPath { get; set; } = "";

        public double TotalSeconds { get; set; }

        public long TotalBytes { get; set; }

        public int TotalErrors { get; set; }

        public int TotalWarnings { get; set; }

        public IReadOnlyList<string> Messages { get; set; } = Array.Empty<string>();

        public int TotalFiles { get; set; }

        /// <summary>At most 5000 of them; only where EveryFile asks for them.</summary>
        [JsonProperty(NullValueHandling = NullValueHandling.Ignore)]
        public IReadOnlyList<PlayerFile>? Files { get; set; }

        /// <summary>Only where IncludeFilesUpTo asks for them.</summary>
        [JsonProperty(NullValueHandling = NullValueHandling.Ignore)]
        public IReadOnlyList<FileContent>? FileContents { get; set; }
    }

    /// <summary>
    /// Builds a player; the main thread is blocked as long. Not cancellable: nothing outside Unity's own progress
    /// window can stop a build. Only the report that Unity returns decides whether it succeeded.
    /// </summary>
    [McpTool(
        Name = "build-player",
        Description = "Builds the player for the platform that the Editor is switched to.",
        Effect = ToolEffect.Mutating,
        ExecutionClass = ExecutionClass.Long,
        RequiredSecuritySetting = SecuritySetting.BuildExecution)]
    public sealed class BuildPlayerTool : AbstractUnityTool<BuildPlayerSchema, BuildPlayerResponse>
    {
        private const int MessagesInError = 20;

        private const int MostFiles = 5000;

        private readonly ToolServices services;

        public BuildPlayerTool(ToolServices services)
        {
            this.services = services;
        }

        protected override Task<BuildPlayerResponse> ExecuteAsync(BuildPlayerSchema parameters, ToolContext context)
        {
            RefuseOtherTargets(parameters.BuildTarget);
            if (parameters.BuildProfile.Length > 0) RefuseOtherProfiles(parameters);
            context.Cancellation.ThrowIfCancellationRequested();
            var target = services.Builds.ActiveTarget;
            var project = services.Editor;
            var extension = services.Builds.PlayerExtension;
            var output = BuildLocation.Of(project.ProjectPath, project.ProjectName, parameters.OutputPath, target, extension);
            var refusal = services.Security.Current.BuildFolders.Refusal(project.ProjectPath, output);
            if (refusal != null) throw new ToolException("security_blocked", refusal);
            var profile = parameters.BuildProfile.Length > 0 ? parameters.BuildProfile : null;
            var request = new BuildRequest(target, output, parameters.Development, parameters.Scenes, profile);
            var outcome = services.Builds.Build(request, new BuildSteps(context.Progress).Report);
            if (!outcome.Succeeded) throw Failure(outcome);
            var files = PlayerFiles.Of(project.ProjectPath, outcome.OutputPath, outcome.Files);
            return Task.FromResult(new BuildPlayerResponse
            {
                Success = true,
                BuildTarget = target,
                OutputPath = outcome.OutputPath,
                TotalSeconds = outcome.TotalSeconds,
                TotalBytes = outcome.TotalBytes,
                TotalErrors = outcome.Errors,
                TotalWarnings = outcome.Warnings,
                Messages = outcome.Messages,
                TotalFiles = files.Count,
                Files = parameters.EveryFile ? files.Take(MostFiles).ToList() : null,
                FileContents = parameters.IncludeFilesUpTo > 0
                    ? FileContents.Of(PlayerFiles.FolderOf(project.ProjectPath, outcome.OutputPath), files, parameters.IncludeFilesUpTo)
                    : null,
            });
        }

        private void RefuseOtherTargets(string wanted)
        {
            var active = services.Builds.ActiveTarget;
            if (string.Equals(wanted, active, StringComparison.OrdinalIgnoreCase)) return;
            BuildTargets.NameOf(services.Builds, wanted);
            throw new ToolException(
                "wrong_build_target",
                $"The Editor is switched to {active}, not to {wanted}. Switch it first with set-build-target. Nothing was built.");
        }

        private void RefuseOtherProfiles(BuildPlayerSchema parameters)
        {
            BuildTargets.CheckProfile(services.Builds, parameters.BuildProfile);
            if (parameters.Scenes.Length > 0)
            {
                throw new ToolException(ToolException.InvalidArguments, "A BuildProfile brings its own scenes; leave Scenes out.");
            }
            if (services.Builds.ActiveProfile == parameters.BuildProfile) return;
            throw new ToolException(
                "wrong_build_target",
                $"The active build profile is {services.Builds.ActiveProfile ?? "none"}, not {parameters.BuildProfile}. "
                + "Switch to it first with set-build-target. Nothing was built.");
        }

        private static ToolException Failure(BuildOutcome outcome)
        {
            if (outcome.Summary == "Cancelled")
            {
                return new ToolException("build_cancelled", "The build was cancelled in the Editor. Call build-player again if the player is still wanted.");
            }
            var counted = outcome.Errors == 1 ? "1 error" : $"{outcome.Errors} errors";
            var messages = outcome.Messages.Take(MessagesInError).Select(message => "\n" + message);
            var left = outcome.Messages.Count - MessagesInError;
            var more = left > 0 ? $"\nand {left} more; get-logs has them." : "";
            return new ToolException(
                "build_failed",
                $"The build failed with {counted} (Unity: {outcome.Summary}).{string.Concat(messages)}{more}");
        }
    }
}
