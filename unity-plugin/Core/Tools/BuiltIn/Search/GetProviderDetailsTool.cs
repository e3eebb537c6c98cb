#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class GetProviderDetailsSchema
    {
        [Description("For example asset; empty for all")]
        public string ProviderId { get; set; } = "";

        [Description("Those that are on")]
        public bool ActiveOnly { get; set; }

        [Description("Smaller numbers first")]
        public bool SortByPriority { get; set; } = true;

        public bool IncludeDescriptions { get; set; } = true;
    }

    public sealed class ProviderDescription
    {
        public string Id { get; set; } = "";

        public string DisplayName { get; set; } = "";

        /// <summary>Null when it was not asked for.</summary>
        public string? Description { get; set; }

        public bool IsActive { get; set; }

        public int Priority { get; set; }

        public string FilterId { get; set; } = "";
    }

    public sealed class GetProviderDetailsResponse
    {
        public int TotalCount { get; set; }

        public int ActiveCount { get; set; }

        public IReadOnlyList<ProviderDescription> Providers { get; set; } = Array.Empty<ProviderDescription>();
    }

    /// <summary>Lists the providers of Unity Search.</summary>
    [McpTool(
        Name = "get-provider-details",
        Description = "Lists the providers of Unity Search.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class GetProviderDetailsTool : AbstractUnityTool<GetProviderDetailsSchema, GetProviderDetailsResponse>
    {
        private readonly ISearch search;

        public GetProviderDetailsTool(ToolServices services)
        {
            search = services.Search;
        }

        protected override Task<GetProviderDetailsResponse> ExecuteAsync(
            GetProviderDetailsSchema parameters,
            ToolContext context)
        {
            var matching = search.Providers()
                .Where(provider => parameters.ProviderId.Length == 0 || provider.Id == parameters.ProviderId)
                .Where(provider => !parameters.ActiveOnly || provider.Active);
            var ordered = parameters.SortByPriority ? matching.OrderBy(provider => provider.Priority) : matching;
            var listed = ordered.Select(provider => Described(provider, parameters.IncludeDescriptions)).ToList();
            return Task.FromResult(new GetProviderDetailsResponse
            {
                TotalCount = listed.Count,
                ActiveCount = listed.Count(provider => provider.IsActive),
                Providers = listed,
            });
        }

        private static ProviderDescription Described(SearchProvider provider, bool withDescription) =>
            new ProviderDescription
            {
                Id = provider.Id,
                DisplayName = provider.DisplayName,
                Description = withDescription ? provider.Description : null,
                IsActive = provider.Active,
                Priority = provider.Priority,
                FilterId = provider.FilterId,
            };
    }
}
