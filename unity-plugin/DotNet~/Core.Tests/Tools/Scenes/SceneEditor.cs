using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.EditorHost.Native.Scenes;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Scenes;

/// <summary>An Editor with one scene: Root0 with three objects below it, and all its tools, called by name.</summary>
public sealed class SceneEditor : IDisposable
{
    private readonly InMemoryEditor editor;
    private readonly UnityToolRegistry tools;

    public SceneEditor()
    {
        World = new SceneWorld(() => 4, () => IsPlaying);
        editor = new InMemoryEditor(null, World);
        editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.SceneEditing);
        tools = new UnityToolRegistry(editor.Services, [], report => Assert.Fail(report));
    }

    public SceneWorld World { get; }

    public bool IsPlaying { get; set; }

    public UnityToolRegistry Tools => tools;

    public InMemoryAssets Assets => editor.Assets;

    public ChangeableSecurity Security => editor.Security;

    public ToolCall LastCall { get; private set; } = new();

    public Task<JToken> Call(string tool, string arguments)
    {
        LastCall = new ToolCall();
        return LastCall.Run(tools.Get(tool)!.Tool, JObject.Parse(arguments));
    }

    public async Task<ToolException> Fails(string tool, string arguments) =>
        await Assert.ThrowsAsync<ToolException>(() => Call(tool, arguments));

    /// <summary>The scene's objects as paths with their ids' parts left out.</summary>
    public string[] Paths() => World.Open.SelectMany(scene => scene.Roots).SelectMany(root => root.All).Select(one => one.Path).ToArray();

    public SceneNode Node(string path) =>
        World.Open.SelectMany(scene => scene.Roots).SelectMany(root => root.All).Single(one => one.Path == path);

    public async Task<string> IdOf(string name)
    {
        var found = await Call("find-game-objects", new JObject { ["NamePattern"] = name }.ToString());
        return (string)found["results"]![0]!["id"]!;
    }

    public void Dispose() => editor.Dispose();
}
