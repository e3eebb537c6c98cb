#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class ListPackagesSchema
    {
        [Description("Part of the name; empty for all")]
        public string FilterText { get; set; } = "";

        [Description("Whether to list those that only other packages need")]
        public bool IncludeIndirect { get; set; }

        [Description("At most this many")]
        [ParameterRange(Minimum = 1)]
        public int MaxResults { get; set; } = 100;
    }

    public sealed class ListedPackage
    {
        public string Name { get; set; } = "";

        public string Version { get; set; } = "";

        public string Source { get; set; } = "";

        /// <summary>The URL or path of one that is not of a registry.</summary>
        public string? From { get; set; }
    }

    public sealed class ListPackagesResponse
    {
        /// <summary>How many fit, listed or not.</summary>
        public int TotalCount { get; set; }

        public IReadOnlyList<ListedPackage> Packages { get; set; } = Array.Empty<ListedPackage>();
    }

    /// <summary>What the Editor has registered, without asking the Package Manager's process.</summary>
    [McpTool(
        Name = "list-packages",
        Description = "Lists the project's packages with their versions.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class ListPackagesTool : AbstractUnityTool<ListPackagesSchema, ListPackagesResponse>
    {
        private readonly IPackages packages;

        public ListPackagesTool(ToolServices services)
        {
            packages = services.Packages;
        }

        protected override Task<ListPackagesResponse> ExecuteAsync(ListPackagesSchema parameters, ToolContext context)
        {
            var fitting = packages.Installed()
                .Where(one => parameters.IncludeIndirect || one.IsDirect)
                .Where(one => one.Name.IndexOf(parameters.FilterText, StringComparison.OrdinalIgnoreCase) >= 0)
                .OrderBy(one => one.Name, StringComparer.Ordinal)
                .ToList();
            return Task.FromResult(new ListPackagesResponse
            {
                TotalCount = fitting.Count,
                Packages = fitting.Take(parameters.MaxResults).Select(Listed).ToList(),
            });
        }

        private static ListedPackage Listed(InstalledPackage one) => new ListedPackage
        {
            Name = one.Name,
            Version = one.Version,
            Source = one.Source,
            From = PackageChange.OriginOf(one) is { } origin && origin != one.Version ? PackageId.WithoutUser(origin) : null,
        };
    }
}
