using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

public sealed class InMemoryScene : ISceneQuery
{
    public List<SceneObject> RootObjects { get; } = new();

    public List<string> Selected { get; } = new();

    public IReadOnlyList<SceneObject> Roots() => RootObjects;

    public SceneObject? Find(string id) => null;

    public IReadOnlyList<string> Selection() => Selected;

    public IReadOnlyList<ComponentDetails> Components(SceneObject target, bool inherited) => target.Components
        .Select(type => new ComponentDetails(type, "UnityEngine." + type, new[] { new ComponentProperty("enabled", "Boolean", "True") }))
        .ToList();

    /// <summary>An object below a parent's path; whatever is below an inactive one is inactive.</summary>
    public static SceneObject Object(
        string path,
        bool active = true,
        string tag = "Untagged",
        int layer = 0,
        string[]? components = null,
        params SceneObject[] children) => new(
            () => "#" + (uint)path.GetHashCode(),
            path.Substring(path.LastIndexOf('/') + 1),
            path,
            "SampleScene",
            active,
            tag,
            layer,
            components ?? new[] { "Transform" },
            children);
}
