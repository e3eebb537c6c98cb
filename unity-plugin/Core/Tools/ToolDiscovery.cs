#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// Finds the [McpTool] classes of assemblies and makes tools of them; what cannot become one is reported, never
    /// thrown.
    /// </summary>
    internal static class ToolDiscovery
    {
        public static IReadOnlyList<RegisteredTool> In(
            Assembly assembly,
            bool builtIn,
            string? package,
            ToolServices services,
            Action<string> report)
        {
            var found = new List<RegisteredTool>();
            foreach (var type in TypesOf(assembly, report).OrderBy(type => type.FullName, StringComparer.Ordinal))
            {
                var tool = Make(type, builtIn, package, services, report);
                if (tool != null) found.Add(tool);
            }
            return found;
        }

        /// <summary>The tool's parts checked and put together; null, and a report, where something is wrong.</summary>
        public static RegisteredTool? Wrap(
            IUnityTool tool,
            McpToolAttribute attribute,
            bool builtIn,
            string? package,
            Action<string> report)
        {
            var type = tool.GetType();
            var name = attribute.Name ?? ToolName.FromClass(type);
            var fault = ToolName.Fault(name);
            if (fault != null) return LeaveOut(type, fault, report);
            try
            {
                var registered = new RegisteredTool(name, tool, attribute, builtIn, package);
                if ((string?)registered.Details()["inputSchema"]?["type"] == "object") return registered;
                return LeaveOut(type, "its InputSchema must be of type object", report);
            }
            catch (Exception error)
            {
                return LeaveOut(type, $"its description fails: {error.Message}", report);
            }
        }

        private static RegisteredTool? Make(
            Type type, bool builtIn, string? package, ToolServices services, Action<string> report)
        {
            try
            {
                var attribute = type.GetCustomAttribute<McpToolAttribute>(false);
                if (attribute == null) return null;
                var fault = ClassFault(type);
                if (fault != null) return LeaveOut(type, fault, report);
                return Wrap(Construct(type, services), attribute, builtIn, package, report);
            }
            catch (Exception error)
            {
                var reason = (error as TargetInvocationException)?.InnerException ?? error;
                return LeaveOut(type, $"it cannot be constructed: {reason.Message}", report);
            }
        }

        private static string? ClassFault(Type type)
        {
            if (!typeof(IUnityTool).IsAssignableFrom(type)) return "it does not implement IUnityTool";
            if (type.IsAbstract || type.ContainsGenericParameters) return "it is abstract or generic";
            var canBeMade = WithServices(type) != null || type.GetConstructor(Type.EmptyTypes) != null;
            return canBeMade ? null : "it has no public constructor for nothing or ToolServices";
        }

        private static IUnityTool Construct(Type type, ToolServices services)
        {
            var withServices = WithServices(type);
            if (withServices != null) return (IUnityTool)withServices.Invoke(new object[] { services });
            return (IUnityTool)type.GetConstructor(Type.EmptyTypes)!.Invoke(null);
        }

        private static ConstructorInfo? WithServices(Type type) => type.GetConstructor(new[] { typeof(ToolServices) });

        private static IEnumerable<Type> TypesOf(Assembly assembly, Action<string> report)
        {
            try
            {
                return assembly.GetTypes();
            }
            catch (ReflectionTypeLoadException error)
            {
                var reason = error.LoaderExceptions.FirstOrDefault()?.Message;
                report($"Some classes of {assembly.GetName().Name} cannot be loaded: {reason}");
                return error.Types.Where(type => type != null).Select(type => type!);
            }
            catch (Exception error)
            {
                report($"{assembly.GetName().Name} cannot be searched for tools: {error.Message}");
                return Enumerable.Empty<Type>();
            }
        }

        private static RegisteredTool? LeaveOut(Type type, string reason, Action<string> report)
        {
            report($"The tool {type.FullName} is left out: {reason}.");
            return null;
        }
    }
}
