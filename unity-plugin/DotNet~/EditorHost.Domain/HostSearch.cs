using JobBroker.Bridge.Ports;

namespace JobBroker.EditorHost.Domain;

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
