#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Runtime.Serialization;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum MenuItemFilter
    {
        [EnumMember(Value = "contains")]
        Contains,

        [EnumMember(Value = "exact")]
        Exact,

        [EnumMember(Value = "startswith")]
        StartsWith,
    }

    public sealed class GetMenuItemsSchema
    {
        [Description("Part of the path, in any case")]
        public string FilterText { get; set; } = "";

        public MenuItemFilter FilterType { get; set; } = MenuItemFilter.Contains;

        [Description("List validating methods, too")]
        public bool IncludeValidation { get; set; }

        [ParameterRange(Minimum = 1)]
        public int MaxCount { get; set; } = 200;
    }

    public sealed class MenuItemDescription
    {
        public string Path { get; set; } = "";

        public string? MethodName { get; set; }

        public string? AssemblyName { get; set; }

        public int Priority { get; set; }

        public bool IsValidateFunction { get; set; }

        /// <summary>Why execute-menu-item would refuse it; null when it would not.</summary>
        public string? Denied { get; set; }
    }

    public sealed class GetMenuItemsResponse
    {
        /// <summary>How many match, listed or not.</summary>
        public int TotalCount { get; set; }

        public IReadOnlyList<MenuItemDescription> MenuItems { get; set; } = Array.Empty<MenuItemDescription>();
    }

    /// <summary>
    /// Lists menu items that scripts define; the Editor's own appear as far as the adapter finds them.
    /// </summary>
    [McpTool(
        Name = "get-menu-items",
        Description = "Lists menu items that execute-menu-item can run.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class GetMenuItemsTool : AbstractUnityTool<GetMenuItemsSchema, GetMenuItemsResponse>
    {
        private readonly ToolServices services;

        public GetMenuItemsTool(ToolServices services)
        {
            this.services = services;
        }

        protected override Task<GetMenuItemsResponse> ExecuteAsync(GetMenuItemsSchema parameters, ToolContext context)
        {
            var policy = services.Security.Current.MenuItems;
            var matching = services.Menu.List()
                .Where(item => parameters.IncludeValidation || !item.IsValidation)
                .Where(item => Fits(item.Path, parameters))
                .ToList();
            var listed = matching.Take(parameters.MaxCount).Select(item => new MenuItemDescription
            {
                Path = item.Path,
                MethodName = item.Method,
                AssemblyName = item.Assembly,
                Priority = item.Priority,
                IsValidateFunction = item.IsValidation,
                Denied = policy.Refusal(item.Path),
            });
            return Task.FromResult(new GetMenuItemsResponse { TotalCount = matching.Count, MenuItems = listed.ToList() });
        }

        private static bool Fits(string path, GetMenuItemsSchema parameters)
        {
            const StringComparison anyCase = StringComparison.OrdinalIgnoreCase;
            var text = parameters.FilterText;
            if (text.Length == 0) return true;
            switch (parameters.FilterType)
            {
                case MenuItemFilter.Exact:
                    return string.Equals(path, text, anyCase);
                case MenuItemFilter.StartsWith:
                    return path.StartsWith(text, anyCase);
                default:
                    return path.IndexOf(text, anyCase) >= 0;
            }
        }
    }
}
