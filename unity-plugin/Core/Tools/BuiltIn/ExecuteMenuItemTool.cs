#nullable enable
using System;
using System.ComponentModel;
using System.Linq;
using System.Reflection;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class ExecuteMenuItemSchema
    {
        [Description("For example Assets/Refresh")]
        [RequiredParameter]
        public string MenuItemPath { get; set; } = "";

        [Description("Call the method behind an item that the Editor does not know")]
        public bool UseReflectionFallback { get; set; } = true;
    }

    public sealed class ExecuteMenuItemResponse
    {
        public bool Success { get; set; }

        public string MenuItemPath { get; set; } = "";

        /// <summary>EditorApplication or Reflection.</summary>
        public string ExecutionMethod { get; set; } = "";
    }

    /// <summary>Runs a menu item until it ends; the main thread is blocked as long.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Runs a menu item of the Editor by its path, on the main thread, until it ends.",
        Effect = ToolEffect.Mutating,
        Destructive = true,
        ExecutionClass = ExecutionClass.Long,
        RequiredSecuritySetting = SecuritySetting.MenuItemExecution)]
    public sealed class ExecuteMenuItemTool : AbstractUnityTool<ExecuteMenuItemSchema, ExecuteMenuItemResponse>
    {
        public const string ToolName = "execute-menu-item";
        public const string PathParameter = nameof(ExecuteMenuItemSchema.MenuItemPath);

        private const BindingFlags AnyStatic = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;

        private readonly ToolServices services;

        public ExecuteMenuItemTool(ToolServices services)
        {
            this.services = services;
        }

        protected override Task<ExecuteMenuItemResponse> ExecuteAsync(
            ExecuteMenuItemSchema parameters,
            ToolContext context)
        {
            var path = parameters.MenuItemPath;
            if (path.Trim().Length == 0)
            {
                throw new ToolException(ToolException.InvalidArguments, $"{PathParameter} is empty.");
            }
            // Asked at submission as well; the settings may have changed while the call waited for its turn.
            var refusal = services.Security.Current.MenuItems.Refusal(path);
            if (refusal != null) throw new ToolException("security_blocked", refusal);
            return Task.FromResult(new ExecuteMenuItemResponse
            {
                Success = true,
                MenuItemPath = path,
                ExecutionMethod = Run(path, parameters.UseReflectionFallback),
            });
        }

        private string Run(string path, bool useReflection)
        {
            try
            {
                if (services.Menu.Execute(path)) return "EditorApplication";
                if (useReflection && CallMethodBehind(path)) return "Reflection";
            }
            catch (Exception error)
            {
                var cause = (error as TargetInvocationException)?.InnerException ?? error;
                throw new ToolException(
                    "menu_item_failed",
                    $"The menu item {path} threw {cause.GetType().Name}: {cause.Message.TrimEnd('.')}. What it did before that stays done: look before you call again.",
                    cause,
                    cause.StackTrace);
            }
            throw new ToolException(
                "menu_item_not_found",
                $"There is no menu item {path}, or it is disabled now. get-menu-items lists what there is.");
        }

        /// <summary>False when no script has that item.</summary>
        private bool CallMethodBehind(string path)
        {
            var item = services.Menu.List()
                .FirstOrDefault(one => one.Path == path && !one.IsValidation && one.Method != null);
            var dot = item?.Method?.LastIndexOf('.') ?? -1;
            if (item == null || dot <= 0) return false;
            var type = AppDomain.CurrentDomain.GetAssemblies()
                .Where(assembly => assembly.GetName().Name == item.Assembly)
                .Select(assembly => assembly.GetType(item.Method!.Substring(0, dot), false))
                .FirstOrDefault(found => found != null);
            var method = type?.GetMethods(AnyStatic)
                .FirstOrDefault(one => one.Name == item.Method!.Substring(dot + 1) && one.GetParameters().Length <= 1);
            if (method == null) return false;
            method.Invoke(null, method.GetParameters().Length == 0 ? null : new object?[] { null });
            return true;
        }
    }
}
