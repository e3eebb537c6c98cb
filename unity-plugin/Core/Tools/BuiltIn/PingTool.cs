#nullable enable
using System.ComponentModel;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class PingSchema
    {
        [Description("Text to send back")]
        public string Message { get; set; } = "Hello";
    }

    public sealed class PingResponse
    {
        public string Message { get; set; } = "";
    }

    /// <summary>Shows that the bridge is there. Any thread: it is answered while the main thread is blocked.</summary>
    [McpTool(
        Name = "ping",
        Description = "Answers with the message, without touching Unity.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class PingTool : AbstractUnityTool<PingSchema, PingResponse>
    {
        protected override Task<PingResponse> ExecuteAsync(PingSchema parameters, ToolContext context) =>
            Task.FromResult(new PingResponse { Message = $"Unity Editor received: {parameters.Message}" });
    }
}
