#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class ExecuteCodeSchema
    {
        [Description("C# statements, using directives first if there are any. return gives a result, await may be "
            + "used, and the variable cancellation (a CancellationToken) tells when to stop")]
        [RequiredParameter]
        public string Code { get; set; } = "";

        [Description("Only compile, and report errors")]
        public bool CompileOnly { get; set; }
    }

    public sealed class ExecuteCodeResponse
    {
        public bool Success { get; set; }

        /// <summary>
        /// What the code returned: plain values, lists, dictionaries and anonymous objects as JSON, all else as text.
        /// </summary>
        [JsonProperty(NullValueHandling = NullValueHandling.Include)]
        public JToken? Result { get; set; }

        /// <summary>What was written to the console meanwhile.</summary>
        public IReadOnlyList<string> Logs { get; set; } = Array.Empty<string>();
    }

    /// <summary>
    /// Runs C# in the Editor. Compiling blocks the main thread on purpose: under a frame of ours no domain reload can
    /// come between the compilation and the code, and the code runs on the main thread.
    /// </summary>
    [McpTool(
        Name = "execute-code",
        Description = "Runs C# code in the Editor, on its main thread.",
        Effect = ToolEffect.Mutating,
        Destructive = true,
        OpenWorld = true,
        Cancellable = true,
        ExecutionClass = ExecutionClass.Medium,
        RequiredSecuritySetting = SecuritySetting.CodeExecution)]
    public sealed class ExecuteCodeTool : AbstractUnityTool<ExecuteCodeSchema, ExecuteCodeResponse>
    {
        private readonly ToolServices services;

        public ExecuteCodeTool(ToolServices services)
        {
            this.services = services;
        }

        protected override async Task<ExecuteCodeResponse> ExecuteAsync(
            ExecuteCodeSchema parameters,
            ToolContext context)
        {
            if (parameters.Code.Trim().Length == 0)
            {
                throw new ToolException(ToolException.InvalidArguments, "Code is empty.");
            }
            context.Progress.Report(0, 2, "Compiling the code");
            var entry = Compile(CodeSource.Wrap(parameters.Code), context);
            if (parameters.CompileOnly) return new ExecuteCodeResponse { Success = true };
            context.Cancellation.ThrowIfCancellationRequested();
            using var logs = new LogCapture(services.Console, context.Progress);
            var result = await Run(entry, context.Cancellation);
            return new ExecuteCodeResponse { Success = true, Result = CodeResult.From(result), Logs = logs.Lines() };
        }

        private MethodInfo Compile(CodeSource source, ToolContext context)
        {
            var name = "JobBroker.Executed." + context.OperationId;
            var compiling = Task.Run(() => services.Code.CompileAsync(source.Text, name, context.Cancellation));
            var compiled = compiling.GetAwaiter().GetResult();
            if (compiled.Assembly == null)
            {
                throw new ToolException("compilation_failed", source.Errors(compiled.Messages));
            }
            return compiled.Assembly.GetType(CodeSource.ClassName, true)!.GetMethod(CodeSource.MethodName)!;
        }

        private static async Task<object?> Run(MethodInfo entry, CancellationToken cancellation)
        {
            try
            {
                var returned = entry.Invoke(null, new object[] { cancellation });
                var isAsync = entry.ReturnType == typeof(Task<object?>);
                return isAsync ? await (Task<object?>)returned! : returned;
            }
            catch (Exception error)
            {
                var cause = (error as TargetInvocationException)?.InnerException ?? error;
                if (cause is OperationCanceledException && cancellation.IsCancellationRequested)
                {
                    throw new OperationCanceledException("The code stopped when it was asked to.", cause, cancellation);
                }
                throw new ToolException(
                    "runtime_exception",
                    $"The code threw {cause.GetType().Name}: {cause.Message.TrimEnd('.')}. What ran before that stays done: look before you call again.",
                    cause,
                    cause.StackTrace);
            }
        }
    }
}
