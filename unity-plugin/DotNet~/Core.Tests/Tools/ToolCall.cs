using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>One call as the engine makes it: what it reports and keeps is here afterwards.</summary>
public sealed class ToolCall : IProgressSink
{
    private readonly CancellationTokenSource cancellation = new();

    public ToolCall(string operationId = "0b6e2c0e-6f5c-4a57-9a0b-0f3c5d1e2a3b")
    {
        Context = new ToolContext(operationId, this, cancellation.Token, record => Record = record.DeepClone());
    }

    public ToolContext Context { get; }

    public JToken? Record { get; private set; }

    public List<(double Progress, double? Total, string? Message, JToken? Partial)> Reports { get; } = new();

    public JToken? LastPartial => Reports.Select(report => report.Partial).LastOrDefault(partial => partial != null);

    public void Cancel() => cancellation.Cancel();

    public void Report(double progress, double? total, string? message, object? partialResult)
    {
        lock (Reports) Reports.Add((progress, total, message, partialResult == null ? null : ToolJson.From(partialResult)));
    }

    /// <summary>Runs to the end; the result is JSON.</summary>
    public async Task<JToken> Run(IUnityTool tool, object? arguments = null)
    {
        var given = arguments as JObject ?? JObject.FromObject(arguments ?? new object());
        return ToolJson.From(await tool.ExecuteAsync(given, Context));
    }

    public static async Task<ToolException> Fails(IUnityTool tool, object? arguments = null) =>
        await Assert.ThrowsAsync<ToolException>(() => new ToolCall().Run(tool, arguments));
}
