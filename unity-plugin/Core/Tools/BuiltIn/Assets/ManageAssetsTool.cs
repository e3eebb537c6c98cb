#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum AssetAction
    {
        Refresh,
        Move,
        Copy,
        Delete,
        CreateFolder,
        CreateMaterial,
        CreatePrefab,
        Reimport,
    }

    public sealed class ManageAssetsSchema
    {
        [Description("Refresh imports what changed on disk; Delete moves to the trash")]
        [RequiredParameter]
        public AssetAction Action { get; set; }

        [Description("The asset or folder, existing or new, for example Assets/Art/Rock.mat")]
        public string Path { get; set; } = "";

        [Description("Move, Copy: its new path, or the folder that it goes into")]
        public string Destination { get; set; } = "";

        [Description("Replace what is there: it goes to the trash")]
        public bool Overwrite { get; set; }

        [Description("CreatePrefab: the object, by path or unique name")]
        public string Target { get; set; } = "";

        [Description("CreateMaterial: its shader; empty for the project's default")]
        public string Shader { get; set; } = "";
    }

    public sealed class ManageAssetsResponse
    {
        public bool Success { get; set; }

        public AssetAction Action { get; set; }

        /// <summary>Where the asset is now; null after Refresh.</summary>
        public string? Path { get; set; }

        public string? Guid { get; set; }

        public string? Type { get; set; }

        /// <summary>What was moved to the trash; null when nothing was.</summary>
        public string? Trashed { get; set; }

        /// <summary>Always false: Unity's Undo does not know changes of assets.</summary>
        public bool Undo { get; set; }

        /// <summary>Whether scripts were compiled; null, as what follows, when no script was concerned.</summary>
        public bool? Compiled { get; set; }

        /// <summary>True when the Editor reloads its script domain behind this.</summary>
        public bool? ReloadFollows { get; set; }

        public int? CompileErrors { get; set; }

        /// <summary>The first of them; null when there are none.</summary>
        public IReadOnlyList<CompileMessage>? Errors { get; set; }

        /// <summary>Null when the rest says it all.</summary>
        public string? Message { get; set; }
    }

    /// <summary>
    /// Changes assets. A change that concerns scripts ends with their compilation: its answer is put into the resume record
    /// as soon as the change is made, so that a reload that follows finds it there and nothing is done twice.
    /// </summary>
    [McpTool(
        Name = "manage-assets",
        Description = "Refreshes, moves, copies, deletes or creates assets; not undoable.",
        Effect = ToolEffect.Mutating,
        Destructive = true,
        ExecutionClass = ExecutionClass.Medium,
        RequiredSecuritySetting = SecuritySetting.AssetEditing)]
    public sealed class ManageAssetsTool : AbstractUnityTool<ManageAssetsSchema, ManageAssetsResponse>, IResumableTool
    {
        private const int MostErrors = 5;

        private readonly ToolServices services;

        public ManageAssetsTool(ToolServices services)
        {
            this.services = services;
        }

        public Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context)
        {
            if (resumeRecord is JObject answer) return Task.FromResult<object?>(answer);
            throw new ToolException(
                ToolException.DomainReload,
                "A domain reload cut the change; see with find-assets whether it was made.");
        }

        protected override async Task<ManageAssetsResponse> ExecuteAsync(ManageAssetsSchema parameters, ToolContext context)
        {
            var answer = new AssetChange(services, parameters).Make();
            var compilation = services.Compiler.PendingAsync();
            if (compilation == null) return answer;
            answer.Compiled = true;
            answer.Message = "A domain reload came before the compiler's messages; compile shows them.";
            context.SaveResumeRecord(ToolJson.From(answer));
            context.Progress.Report(0, 1, "Compiling");
            // Not awaited directly: an await may resume a frame later, and the reload comes before that frame.
            return await compilation.ContinueWith(
                done =>
                {
                    var outcome = done.GetAwaiter().GetResult();
                    Add(answer, outcome);
                    context.SaveResumeRecord(ToolJson.From(answer));
                    if (outcome.ReloadFollows) context.AnnounceReload();
                    return answer;
                },
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default);
        }

        private static void Add(ManageAssetsResponse answer, CompileOutcome outcome)
        {
            var errors = outcome.Messages.Where(message => message.IsError).Select(CompileTool.Described).ToList();
            answer.Compiled = outcome.Compiled;
            answer.ReloadFollows = outcome.ReloadFollows;
            answer.CompileErrors = errors.Count;
            answer.Errors = errors.Count == 0 ? null : errors.Take(MostErrors).ToList();
            answer.Message = errors.Count == 0 ? null : "The change was made, and the scripts do not compile.";
        }
    }
}
