#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class UnitySearchSchema
    {
        [Description("For example t:Material")]
        [RequiredParameter]
        public string SearchQuery { get; set; } = "";

        [Description("Ids (get-provider-details lists them); empty for every active one")]
        public string[] Providers { get; set; } = Array.Empty<string>();

        [ParameterRange(Minimum = 1)]
        public int MaxResults { get; set; } = 50;

        public bool IncludeDescription { get; set; } = true;

        public SearchMode SearchFlags { get; set; } = SearchMode.Default;

        [Description("For example cs")]
        public string[] FileExtensions { get; set; } = Array.Empty<string>();

        [Description("For example Texture2D")]
        public string[] AssetTypes { get; set; } = Array.Empty<string>();

        [Description("For example Assets/Art/*")]
        public string PathFilter { get; set; } = "";
    }

    public sealed class SearchResult
    {
        public string Id { get; set; } = "";

        public string Label { get; set; } = "";

        /// <summary>Null when it was not asked for.</summary>
        public string? Description { get; set; }

        public string Provider { get; set; } = "";

        public string Type { get; set; } = "";

        public string Path { get; set; } = "";
    }

    public sealed class UnitySearchResponse
    {
        public string SearchQuery { get; set; } = "";

        /// <summary>
        /// How many match, as far as the search went: up to MaxResults without a filter, 10 000 with one.
        /// </summary>
        public int TotalCount { get; set; }

        public int DisplayedCount { get; set; }

        public IReadOnlyList<SearchResult> Results { get; set; } = Array.Empty<SearchResult>();
    }

    /// <summary>
    /// Searches the project with Unity Search; extensions, types and paths are sorted out of what it finds.
    /// </summary>
    [McpTool(
        Name = "unity-search",
        Description = "Searches the project with Unity Search.",
        Effect = ToolEffect.ReadOnly,
        Cancellable = true,
        ExecutionClass = ExecutionClass.Medium)]
    public sealed class UnitySearchTool : AbstractUnityTool<UnitySearchSchema, UnitySearchResponse>
    {
        /// <summary>What is asked of Unity when a filter will throw some of it away.</summary>
        private const int FilteredFrom = 10000;

        private readonly ISearch search;

        public UnitySearchTool(ToolServices services)
        {
            search = services.Search;
        }

        protected override async Task<UnitySearchResponse> ExecuteAsync(
            UnitySearchSchema parameters,
            ToolContext context)
        {
            var known = search.Providers().Select(provider => provider.Id).ToList();
            var unknown = parameters.Providers.FirstOrDefault(id => !known.Contains(id));
            if (unknown != null)
            {
                throw new ToolException(
                    ToolException.InvalidArguments,
                    $"There is no provider {unknown}. Known are {string.Join(", ", known)}.");
            }
            var filters = parameters.FileExtensions.Length + parameters.AssetTypes.Length
                + parameters.PathFilter.Length;
            var atMost = filters > 0 ? Math.Max(FilteredFrom, parameters.MaxResults) : parameters.MaxResults;
            var hits = await search.FindAsync(
                parameters.SearchQuery,
                parameters.Providers,
                parameters.SearchFlags,
                atMost,
                context.Cancellation);
            var matching = hits.Where(hit => Fits(hit, parameters)).ToList();
            var listed = matching
                .Take(parameters.MaxResults)
                .Select(hit => Result(hit, parameters.IncludeDescription))
                .ToList();
            return new UnitySearchResponse
            {
                SearchQuery = parameters.SearchQuery,
                TotalCount = matching.Count,
                DisplayedCount = listed.Count,
                Results = listed,
            };
        }

        private static bool Fits(SearchHit hit, UnitySearchSchema parameters)
        {
            const StringComparison anyCase = StringComparison.OrdinalIgnoreCase;
            return (parameters.FileExtensions.Length == 0
                    || parameters.FileExtensions.Any(one => hit.Path.EndsWith("." + one.TrimStart('.'), anyCase)))
                && (parameters.AssetTypes.Length == 0
                    || parameters.AssetTypes.Any(one => string.Equals(one, hit.Type, anyCase)))
                && (parameters.PathFilter.Length == 0 || Glob.Matches(parameters.PathFilter, hit.Path));
        }

        private static SearchResult Result(SearchHit hit, bool withDescription) => new SearchResult
        {
            Id = hit.Id,
            Label = hit.Label,
            Description = withDescription ? hit.Description : null,
            Provider = hit.Provider,
            Type = hit.Type,
            Path = hit.Path,
        };
    }
}
