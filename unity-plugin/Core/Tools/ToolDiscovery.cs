#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using JobBroker.Bridge.Tools.BuiltIn;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// Makes tools of the bridge's own classes and of a project's; what cannot become one is reported, never thrown.
    /// </summary>
    internal static class ToolDiscovery
    {
        /// <summary>The bridge's own tools, which are described when somebody asks for that.</summary>
        public static IEnumerable<RegisteredTool> Own(ToolServices services)
        {
            foreach (var tool in BuiltInTools.All(services))
            {
                var attribute = tool.GetType().GetCustomAttribute<McpToolAttribute>(false)!;
                yield return new RegisteredTool(NameOf(tool, attribute), tool, attribute, builtIn: true);
            }
        }

        /// <summary>Those of these classes that are tools, in the order of their names.</summary>
        public static IReadOnlyList<RegisteredTool> Among(
            IEnumerable<Type> classes, Func<Assembly, string?> packageOf, ToolServices services, Action<string> report)
        {
            var own = typeof(ToolDiscovery).Assembly;
            var packages = new Dictionary<Assembly, string?>();
            var found = new List<RegisteredTool>();
            foreach (var type in classes.Where(type => type.Assembly != own).OrderBy(type => type.FullName, StringComparer.Ordinal))
            {
                if (!packages.TryGetValue(type.Assembly, out var package))
                {
                    packages[type.Assembly] = package = packageOf(type.Assembly);
                }
                var tool = Make(type, package, services, report);
                if (tool != null) found.Add(tool);
            }
            return found;
        }

        /// <summary>
        /// A project's tool, checked and described at once, on the thread that may use Unity's API; null, and a report, where
        /// something is wrong.
        /// </summary>
        public static RegisteredTool? Wrap(
            IUnityTool tool, McpToolAttribute attribute, string? package, Action<string> report)
        {
            var type = tool.GetType();
            var name = NameOf(tool, attribute);
            var fault = ToolName.Fault(name);
            if (fault != null) return LeaveOut(type, fault, report);
            try
            {
                var registered = new RegisteredTool(name, tool, attribute, false, package);
                if ((string?)registered.Details()["inputSchema"]?["type"] == "object") return registered;
                return LeaveOut(type, "its InputSchema must be of type object", report);
            }
            catch (Exception error)
            {
                return LeaveOut(type, $"its description fails: {error.Message}", report);
            }
        }

        private static RegisteredTool? Make(Type type, string? package, ToolServices services, Action<string> report)
        {
            try
            {
                var attribute = type.GetCustomAttribute<McpToolAttribute>(false);
                if (attribute == null) return null;
                var fault = ClassFault(type);
                if (fault != null) return LeaveOut(type, fault, report);
                return Wrap(Construct(type, services), attribute, package, report);
            }
            catch (Exception error)
            {
                var reason = (error as TargetInvocationException)?.InnerException ?? error;
                return LeaveOut(type, $"it cannot be constructed: {reason.Message}", report);
            }
        }

        private static string NameOf(IUnityTool tool, McpToolAttribute attribute) =>
            attribute.Name ?? ToolName.FromClass(tool.GetType());

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

        private static RegisteredTool? LeaveOut(Type type, string reason, Action<string> report)
        {
            report($"The tool {type.FullName} is left out: {reason}.");
            return null;
        }
    }
}
