#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class FindAssetsSchema
    {
        [Description("Part of the name, or Unity's search text, for example rock l:Stone")]
        public string SearchFilter { get; set; } = "";

        [Description("For example Material, Prefab, Scene, Texture2D")]
        public string Type { get; set; } = "";

        [Description("Where to look")]
        public string Folder { get; set; } = AssetPath.Assets;

        [Description("Instead: one asset by its path, with its import settings")]
        public string Path { get; set; } = "";

        [Description("At most this many")]
        [ParameterRange(Minimum = 1)]
        public int MaxResults { get; set; } = 50;
    }

    public sealed class FoundAsset
    {
        public string Path { get; set; } = "";

        public string Guid { get; set; } = "";

        public string Type { get; set; } = "";

        /// <summary>Null unless one asset was asked for.</summary>
        public IReadOnlyDictionary<string, string>? ImportSettings { get; set; }
    }

    public sealed class FindAssetsResponse
    {
        /// <summary>How many fit, listed or not.</summary>
        public int TotalFound { get; set; }

        public IReadOnlyList<FoundAsset> Results { get; set; } = Array.Empty<FoundAsset>();
    }

    /// <summary>Finds assets as the Project window's search does.</summary>
    [McpTool(
        Name = "find-assets",
        Description = "Finds the project's assets by name, type or folder, or reads one asset's import settings.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class FindAssetsTool : AbstractUnityTool<FindAssetsSchema, FindAssetsResponse>
    {
        private readonly IAssets assets;

        public FindAssetsTool(ToolServices services)
        {
            assets = services.Assets;
        }

        protected override Task<FindAssetsResponse> ExecuteAsync(FindAssetsSchema parameters, ToolContext context) =>
            Task.FromResult(parameters.Path.Length > 0 ? One(parameters.Path) : All(parameters));

        private FindAssetsResponse One(string path)
        {
            var one = Described(AssetPath.Existing(assets, AssetPath.Readable(nameof(FindAssetsSchema.Path), path)));
            one.ImportSettings = assets.ImportSettings(one.Path)
                .GroupBy(setting => setting.Name)
                .ToDictionary(setting => setting.Key, setting => setting.First().Value);
            return new FindAssetsResponse { TotalFound = 1, Results = new[] { one } };
        }

        private FindAssetsResponse All(FindAssetsSchema parameters)
        {
            var folder = AssetPath.Readable(nameof(parameters.Folder), parameters.Folder);
            // Unity warns of a folder that is not there, and searches everything.
            if (folder != AssetPath.Packages && !AssetPath.Existing(assets, folder).IsFolder)
            {
                throw new ToolException(ToolException.InvalidArguments, $"Folder is not a folder: {folder}");
            }
            if (parameters.Type.Length > 0 && !Regex.IsMatch(parameters.Type, "^[A-Za-z_][A-Za-z0-9_.]*$"))
            {
                throw new ToolException(ToolException.InvalidArguments, $"Type is not the name of a type: {parameters.Type}");
            }
            var filter = parameters.Type.Length > 0 ? $"{parameters.SearchFilter} t:{parameters.Type}" : parameters.SearchFilter;
            var paths = assets.Find(filter.Trim(), new[] { folder }).OrderBy(path => path, StringComparer.Ordinal).ToList();
            return new FindAssetsResponse
            {
                TotalFound = paths.Count,
                Results = paths.Take(parameters.MaxResults)
                    .Select(assets.Get)
                    .Where(found => found != null)
                    .Select(found => Described(found!))
                    .ToList(),
            };
        }

        private static FoundAsset Described(AssetEntry found) =>
            new FoundAsset { Path = found.Path, Guid = found.Guid, Type = found.Type };
    }
}
