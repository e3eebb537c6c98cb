using System;
using System.Threading.Tasks;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json;
using Xunit;

using static JobBroker.Bridge.Tests.Tools.InMemory.InMemoryScene;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>The sample of the package is found, described and called like any project's tool.</summary>
public sealed class SampleToolTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    [Fact]
    public async Task The_sample_counts_components()
    {
        editor.Scene.RootObjects.Add(Object("A", components: new[] { "Transform", "Camera" }, children: new[]
        {
            Object("A/B"),
            Object("A/C", active: false, components: new[] { "Transform", "Light" }),
        }));
        var tools = new UnityToolRegistry(editor.Services, typeof(SampleToolTests).Assembly.GetTypes(), _ => { });
        var sample = tools.Get("count-components")!;
        Assert.True(sample.IsReadOnly);
        Assert.Equal("main", sample.Lane);
        var all = await new ToolCall().Run(sample.Tool, new { maxKinds = 1 });
        Assert.Equal("""{"TotalCount":5,"Kinds":[{"Component":"Transform","Count":3}]}""", all.ToString(Formatting.None));
        var active = await new ToolCall().Run(sample.Tool, new { IncludeInactive = false });
        Assert.Equal(3, (int)active["TotalCount"]!);
        var missing = await ToolCall.Fails(sample.Tool, new { Component = "Moon" });
        Assert.Equal("component_not_found", missing.Type);
        Assert.StartsWith(
            "MaxKinds must be from 1 to 1000",
            (await ToolCall.Fails(sample.Tool, new { MaxKinds = 0 })).Message);
    }
}
