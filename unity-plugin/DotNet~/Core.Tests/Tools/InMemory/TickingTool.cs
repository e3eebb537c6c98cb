#nullable enable
using System.Threading.Tasks;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

/// <summary>A tool in an Editor that ticks behind each call until it is at rest.</summary>
public sealed class TickingTool(IResumableTool tool, InMemoryEditor editor) : IResumableTool
{
    public const int TicksToRest = 3;

    public JObject InputSchema => tool.InputSchema;

    public Task<object?> ExecuteAsync(JObject arguments, ToolContext context) => Ticked(tool.ExecuteAsync(arguments, context));

    public Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context) =>
        Ticked(tool.ResumeAsync(arguments, resumeRecord, context));

    private Task<object?> Ticked(Task<object?> running)
    {
        editor.Tick(TicksToRest);
        return running;
    }
}
