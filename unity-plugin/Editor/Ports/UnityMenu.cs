#nullable enable
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.ExceptionServices;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// The Editor's menus. An item of a script is called itself, because EditorApplication.ExecuteMenuItem writes an
    /// item's exception to the console and says that all went well. Main thread only.
    /// </summary>
    internal sealed class UnityMenu : IMenu
    {
        public IReadOnlyList<MenuItemEntry> List() => Items().Select(item => new MenuItemEntry(
            item.Path,
            item.Method.DeclaringType!.FullName + "." + item.Method.Name,
            item.Method.DeclaringType!.Assembly.GetName().Name,
            item.Attribute.validate,
            item.Attribute.priority)).ToList();

        public bool Execute(string path)
        {
            var items = Items().Where(item => item.Path == path).ToList();
            var runs = items.Where(item => !item.Attribute.validate).ToList();
            // Two of one path: only the Editor knows which of them counts.
            if (runs.Count != 1) return EditorApplication.ExecuteMenuItem(path);
            var isOff = items.Where(item => item.Attribute.validate).Any(item => Call(item.Method) is false);
            if (isOff) return false;
            Call(runs[0].Method);
            return true;
        }

        private static IEnumerable<Item> Items() => TypeCache.GetMethodsWithAttribute<MenuItem>()
            .Where(method => method.IsStatic && !method.ContainsGenericParameters && method.GetParameters().Length <= 1)
            .SelectMany(method => method.GetCustomAttributes<MenuItem>().Select(attribute => new Item(method, attribute)));

        private static object? Call(MethodInfo method)
        {
            var arguments = method.GetParameters().Length == 0 ? null : new object[] { new MenuCommand(null) };
            try
            {
                return method.Invoke(null, arguments);
            }
            catch (TargetInvocationException error) when (error.InnerException != null)
            {
                ExceptionDispatchInfo.Capture(error.InnerException).Throw();
                throw;
            }
        }

        private sealed class Item
        {
            public Item(MethodInfo method, MenuItem attribute)
            {
                Method = method;
                Attribute = attribute;
                Path = MenuPath.WithoutShortcut(attribute.menuItem);
            }

            public MethodInfo Method { get; }

            public MenuItem Attribute { get; }

            public string Path { get; }
        }
    }
}
