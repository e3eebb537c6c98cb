using JobBroker.Bridge.Ports;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

internal sealed class HostScene(NativeEditor native) : ISceneQuery
{
    public IReadOnlyList<SceneObject> Roots() => Enumerable.Range(0, native.Script.SceneObjects)
        .GroupBy(index => index / 100)
        .Select(group => Object($"Root{group.Key}", $"Root{group.Key}", ["Transform"], group.Select(Child)))
        .ToList();

    public IReadOnlyList<string> Selection() => ["Root0"];

    public IReadOnlyList<ComponentDetails> Components(SceneObject target, bool inherited) =>
        target.Components.Select(type => new ComponentDetails(type, "UnityEngine." + type, [])).ToList();

    private static SceneObject Child(int index)
    {
        string[] components = index % 3 == 0 ? ["Transform", "Camera"] : ["Transform", "MeshRenderer"];
        return Object($"Object{index}", $"Root{index / 100}/Object{index}", components, []);
    }

    private static SceneObject Object(
        string name, string path, IEnumerable<string> components, IEnumerable<SceneObject> children) =>
        new(name, path, "SampleScene", true, "Untagged", 0, components, children);
}

internal sealed class HostSearch : ISearch
{
    public IReadOnlyList<SearchProvider> Providers() =>
    [
        new("asset", "Project", true, 25, "p:"),
        new("scene", "Hierarchy", true, 50, "h:"),
        new("menu", "Menu", true, 80, "m:"),
    ];

    public Task<IReadOnlyList<SearchHit>> FindAsync(
        string query,
        IReadOnlyList<string> providers,
        SearchMode mode,
        int maxResults,
        CancellationToken cancellation)
    {
        var hits = Enumerable.Range(0, Math.Min(5, maxResults)).Select(index =>
            new SearchHit($"asset-{index}", $"{query} {index}", "", "asset", "Material", $"Assets/Found/{index}.asset"));
        return Task.FromResult<IReadOnlyList<SearchHit>>(hits.ToList());
    }
}
