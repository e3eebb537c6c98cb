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
    public sealed class CompileSchema
    {
        [Description("Compile although nothing changed")]
        public bool ForceRecompile { get; set; }
    }

    public sealed class CompileMessage
    {
        public string Message { get; set; } = "";

        public string File { get; set; } = "";

        public int Line { get; set; }

        public int Column { get; set; }
    }

    public sealed class CompileResponse
    {
        public bool Success { get; set; }

        /// <summary>False when nothing had to be compiled.</summary>
        public bool Compiled { get; set; }

        /// <summary>True when the Editor reloads its script domain behind this.</summary>
        public bool ReloadFollows { get; set; }

        public int ErrorCount { get; set; }

        public int WarningCount { get; set; }

        public IReadOnlyList<CompileMessage> Errors { get; set; } = Array.Empty<CompileMessage>();

        public IReadOnlyList<CompileMessage> Warnings { get; set; } = Array.Empty<CompileMessage>();

        /// <summary>Null when the counts suffice.</summary>
        public string? Message { get; set; }
    }

    /// <summary>
    /// Compiles the scripts. The answer is put into the resume record in the very call that ends the compilation, so
    /// that a reload which follows at once finds it there.
    /// </summary>
    [McpTool(
        Name = "compile",
        Description = "Compiles the scripts and reports errors and warnings.",
        Effect = ToolEffect.Idempotent,
        BeginsWhileBusy = true,
        ExecutionClass = ExecutionClass.Medium)]
    public sealed class CompileTool : AbstractUnityTool<CompileSchema, CompileResponse>, IResumableTool
    {
        private const string AnswerKey = "answer";

        private readonly ToolServices services;

        public CompileTool(ToolServices services)
        {
            this.services = services;
        }

        public Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context)
        {
            var answer = (resumeRecord as JObject)?[AnswerKey];
            if (answer != null) return Task.FromResult<object?>(answer);
            throw new ToolException(
                ToolException.DomainReload,
                "A domain reload cut the compilation before its messages were known; compile again to see them.");
        }

        protected override async Task<CompileResponse> ExecuteAsync(CompileSchema parameters, ToolContext context)
        {
            context.Progress.Report(0, 1, "Compiling");
            var compilation = services.Compiler.CompileAsync(parameters.ForceRecompile, context.Cancellation);
            // Not awaited directly: an await may resume a frame later, and the reload comes before that frame.
            return await compilation.ContinueWith(
                done =>
                {
                    var answer = Answer(done.GetAwaiter().GetResult());
                    context.SaveResumeRecord(new JObject { [AnswerKey] = ToolJson.From(answer) });
                    if (answer.ReloadFollows) context.AnnounceReload();
                    return answer;
                },
                CancellationToken.None,
                TaskContinuationOptions.ExecuteSynchronously,
                TaskScheduler.Default);
        }

        private CompileResponse Answer(CompileOutcome outcome)
        {
            var errors = Messages(outcome, true);
            var warnings = Messages(outcome, false);
            var stillBroken = !outcome.Compiled && errors.Count == 0 && services.Editor.Phase == "compile_errors";
            return new CompileResponse
            {
                Success = errors.Count == 0 && !stillBroken,
                Compiled = outcome.Compiled,
                ReloadFollows = outcome.ReloadFollows,
                ErrorCount = errors.Count,
                WarningCount = warnings.Count,
                Errors = errors,
                Warnings = warnings,
                Message = stillBroken
                    ? "Nothing changed since a compilation that failed; compile with ForceRecompile to see its errors."
                    : outcome.Compiled ? null : "Nothing had to be compiled.",
            };
        }

        private static List<CompileMessage> Messages(CompileOutcome outcome, bool errors) => outcome.Messages
            .Where(message => message.IsError == errors)
            .Select(Described)
            .ToList();

        internal static CompileMessage Described(CompilerMessage message) => new CompileMessage
        {
            Message = message.Message,
            File = message.File,
            Line = message.Line,
            Column = message.Column,
        };
    }
}
