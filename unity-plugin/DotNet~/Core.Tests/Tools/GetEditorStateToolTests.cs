using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class GetEditorStateToolTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    private Task<JToken> Read(params string[] parts) =>
        new ToolCall().Run(new GetEditorStateTool(editor.Services), parts.Length == 0 ? new { } : new { Parts = parts });

    [Fact]
    public async Task It_is_small_unless_more_is_asked_for()
    {
        var answer = (JObject)await Read();
        Assert.Equal(
            new[] { "UnityVersion", "ProjectPath", "Phase", "Scenes", "SelectedCount", "Selection", "PlayMode" },
            answer.Properties().Select(one => one.Name));
        Assert.Equal("Edit", (string?)answer["PlayMode"]!["State"]);
        Assert.Equal("Assets/Main.unity", (string?)answer["Scenes"]![0]!["Path"]);
    }

    [Fact]
    public async Task Parts_are_those_that_are_asked_for()
    {
        var answer = (JObject)await Read("Tags", "Layers", "BuildTarget");
        Assert.Equal(new[] { "Untagged", "Player" }, answer["Tags"]!.Values<string>());
        Assert.Equal("0 Default, 4 Water", string.Join(", ", answer["Layers"]!.Select(one => $"{one["Layer"]} {one["Name"]}")));
        Assert.Equal(editor.Builds.ActiveTarget, (string?)answer["BuildTarget"]!["Active"]);
        Assert.Null(answer["Scenes"]);
        Assert.Equal("invalid_arguments", (await ToolCall.Fails(new GetEditorStateTool(editor.Services), new { Parts = new[] { "Cats" } })).Type);
    }

    [Fact]
    public async Task A_part_is_read_once_however_often_it_is_named()
    {
        await Read(Enumerable.Repeat("Packages", 1000).ToArray());
        Assert.Equal(1, editor.Packages.Reads);
    }

    [Fact]
    public async Task Of_a_large_selection_the_first_are_listed()
    {
        editor.State.Chosen.AddRange(Enumerable.Range(0, 60).Select(one => new SelectedObject { Name = $"O{one}", Type = "GameObject", Path = $"/O{one}" }));
        var answer = await Read("Selection");
        Assert.Equal(60, (int)answer["SelectedCount"]!);
        Assert.Equal(50, answer["Selection"]!.Count());
    }

    [Fact]
    public async Task Packages_are_those_that_the_project_asks_for()
    {
        var packages = (await Read("Packages"))["Packages"]!;
        Assert.NotEmpty(packages);
        Assert.Equal(editor.Packages.Installed().Where(one => one.IsDirect).Select(one => one.Name), packages.Select(one => (string)one["Name"]!));
        Assert.NotNull(packages[0]!["Version"]);
    }
}
