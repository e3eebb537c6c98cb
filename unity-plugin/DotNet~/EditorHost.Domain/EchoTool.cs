using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.EditorHost.Domain;

/// <summary>A tool that answers its text: for catalogues that change while a client watches.</summary>
internal sealed class EchoTool(string name) : IUnityTool
{
    public JObject InputSchema { get; } = new()
    {
        ["$schema"] = "https://json-schema.org/draft/2020-12/schema",
        ["type"] = "object",
        ["properties"] = new JObject
        {
            ["Text"] = new JObject { ["type"] = "string", ["description"] = "Any text", ["default"] = "" },
        },
        ["additionalProperties"] = false,
    };

    public Task<object?> ExecuteAsync(JObject arguments, ToolContext context) =>
        Task.FromResult<object?>(new { Tool = name, Text = (string?)(arguments["Text"] ?? arguments["text"]) ?? "" });
}
