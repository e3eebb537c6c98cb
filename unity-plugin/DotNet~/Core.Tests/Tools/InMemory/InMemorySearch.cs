using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

public sealed class InMemorySearch : ISearch
{
    public List<SearchProvider> Known { get; } = new()
    {
        new SearchProvider("scene", "Hierarchy", true, 50, "h:", "Objects"),
        new SearchProvider("asset", "Project", true, 25, "p:", "Assets"),
        new SearchProvider("store", "Asset Store", false, 100, "store:"),
    };

    public List<SearchHit> Hits { get; } = new();

    /// <summary>The last question as it came.</summary>
    public string Asked { get; private set; } = "";

    public IReadOnlyList<SearchProvider> Providers() => Known;

    public async Task<IReadOnlyList<SearchHit>> FindAsync(
        string query,
        IReadOnlyList<string> providers,
        SearchMode mode,
        int maxResults,
        CancellationToken cancellation)
    {
        Asked = $"{query} in [{string.Join(",", providers)}] {mode} at most {maxResults}";
        await Task.Yield();
        cancellation.ThrowIfCancellationRequested();
        return Hits.Take(maxResults).ToList();
    }
}
