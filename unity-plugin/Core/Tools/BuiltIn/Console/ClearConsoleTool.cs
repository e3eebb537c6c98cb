#nullable enable
using System.Threading.Tasks;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class ClearConsoleSchema
    {
    }

    public sealed class ClearConsoleResponse
    {
        public bool Success { get; set; }

        public int ClearedLogCount { get; set; }
    }

    /// <summary>Empties the Editor's console and the lines that get-logs reads.</summary>
    [McpTool(
        Name = "clear-console",
        Description = "Empties the Editor console.",
        Effect = ToolEffect.Idempotent,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class ClearConsoleTool : AbstractUnityTool<ClearConsoleSchema, ClearConsoleResponse>
    {
        private readonly ToolServices services;

        public ClearConsoleTool(ToolServices services)
        {
            this.services = services;
        }

        protected override Task<ClearConsoleResponse> ExecuteAsync(ClearConsoleSchema parameters, ToolContext context)
        {
            var cleared = services.Console.Clear();
            services.Logs.Clear();
            return Task.FromResult(new ClearConsoleResponse { Success = true, ClearedLogCount = cleared });
        }
    }
}
