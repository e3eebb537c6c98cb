#nullable enable
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Ports
{
    public sealed class SearchProvider
    {
        public SearchProvider(
            string id,
            string displayName,
            bool active,
            int priority,
            string filterId,
            string description = "")
        {
            Id = id;
            DisplayName = displayName;
            Active = active;
            Priority = priority;
            FilterId = filterId;
            Description = description;
        }

        public string Id { get; }

        public string DisplayName { get; }

        public bool Active { get; }

        public int Priority { get; }

        public string FilterId { get; }

        /// <summary>What it finds, for people; empty when the provider has no description.</summary>
        public string Description { get; }
    }

    /// <summary>How a search is run: Unity's SearchFlags of the same name.</summary>
    public enum SearchMode
    {
        Default,
        Synchronous,
        WantsMore,
        Packages,
        Sorted,
    }

    public sealed class SearchHit
    {
        public SearchHit(string id, string label, string description, string provider, string type, string path)
        {
            Id = id;
            Label = label;
            Description = description;
            Provider = provider;
            Type = type;
            Path = path;
        }

        public string Id { get; }

        public string Label { get; }

        public string Description { get; }

        public string Provider { get; }

        public string Type { get; }

        public string Path { get; }
    }

    /// <summary>Unity Search. Main thread only.</summary>
    public interface ISearch
    {
        IReadOnlyList<SearchProvider> Providers();

        /// <param name="providers">Ids; empty means every active one.</param>
        Task<IReadOnlyList<SearchHit>> FindAsync(
            string query,
            IReadOnlyList<string> providers,
            SearchMode mode,
            int maxResults,
            CancellationToken cancellation);
    }
}
