#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// All tools of this Editor by name. Reads come from any thread and see one consistent set; changes are made on the
    /// main thread and replace the set.
    /// </summary>
    public sealed class UnityToolRegistry
    {
        private readonly object changing = new object();
        private readonly Action<string> report;
        private readonly Func<Assembly, string?> packageOf;
        private volatile bool showsDevelopmentOnly;
        private ToolSet current;

        /// <summary>Makes the bridge's own tools and those of a project. Main thread only.</summary>
        /// <param name="classes">Those of a project with an McpTool attribute; others are passed over.</param>
        /// <param name="report">Receives a sentence about each tool that is left out.</param>
        /// <param name="packageOf">The package that an assembly came with; null for the project's own code.</param>
        public UnityToolRegistry(
            ToolServices services,
            IEnumerable<Type> classes,
            Action<string> report,
            Func<Assembly, string?>? packageOf = null)
        {
            this.report = report;
            this.packageOf = packageOf ?? (_ => null);
            var found = new Dictionary<string, RegisteredTool>(StringComparer.Ordinal);
            foreach (var tool in ToolDiscovery.Own(services)) Enter(found, tool);
            foreach (var tool in ToolDiscovery.Among(classes, this.packageOf, services, report)) Enter(found, tool);
            current = new ToolSet(found);
            services.Tools = this;
        }

        /// <summary>Raised behind every change, on the thread that made it.</summary>
        public event Action? Changed;

        /// <summary>The tool of that name; null when there is none.</summary>
        public RegisteredTool? Get(string name) => Current().ByName.TryGetValue(name, out var tool) ? tool : null;

        /// <summary>Every tool, by name.</summary>
        public IReadOnlyList<RegisteredTool> All() => Current().Ordered;

        /// <summary>What get-tool-details lists (docs/reference/protocol.md, section 2), by name.</summary>
        public JArray Details(bool includeDevelopmentOnly) =>
            DetailsOf(Current().Ordered, includeDevelopmentOnly || showsDevelopmentOnly);

        /// <summary>While it is on, tools for development are listed for everybody. Main thread only.</summary>
        public void ShowDevelopmentOnly(bool on)
        {
            if (on == showsDevelopmentOnly) return;
            showsDevelopmentOnly = on;
            Changed?.Invoke();
        }

        /// <summary>
        /// 16 hexadecimal digits that change with the name, description or any other detail of a tool. The first call after a
        /// change describes every tool: a domain reload is not the time for that.
        /// </summary>
        public string Hash() => Current().Hash;

        /// <summary>
        /// Adds a tool at run time; false, and a report, when its name is taken or something is wrong with it. Without
        /// an attribute, that of its class counts.
        /// </summary>
        public bool Register(IUnityTool tool, McpToolAttribute? attribute = null)
        {
            var described = attribute ?? tool.GetType().GetCustomAttribute<McpToolAttribute>(false);
            if (described == null)
            {
                report($"The tool {tool.GetType().FullName} is left out: it has no McpTool attribute.");
                return false;
            }
            var wrapped = ToolDiscovery.Wrap(tool, described, packageOf(tool.GetType().Assembly), report);
            if (wrapped == null) return false;
            lock (changing)
            {
                var changed = current.ByName
                    .ToDictionary(entry => entry.Key, entry => entry.Value, StringComparer.Ordinal);
                if (!Enter(changed, wrapped)) return false;
                Replace(changed);
            }
            Changed?.Invoke();
            return true;
        }

        /// <summary>Removes a tool that is not the bridge's own; false when there is none of that name.</summary>
        public bool Unregister(string name)
        {
            lock (changing)
            {
                if (!current.ByName.TryGetValue(name, out var tool) || tool.BuiltIn) return false;
                Replace(current.ByName.Where(entry => entry.Key != name)
                    .ToDictionary(entry => entry.Key, entry => entry.Value, StringComparer.Ordinal));
            }
            Changed?.Invoke();
            return true;
        }

        private ToolSet Current() => Volatile.Read(ref current);

        private bool Enter(Dictionary<string, RegisteredTool> all, RegisteredTool tool)
        {
            if (!all.TryGetValue(tool.Name, out var first))
            {
                all.Add(tool.Name, tool);
                return true;
            }
            var owner = first.BuiltIn ? "the bridge's own" : first.Tool.GetType().FullName;
            report($"The tool {tool.Tool.GetType().FullName} is left out: {tool.Name} is {owner} already.");
            return false;
        }

        private void Replace(IReadOnlyDictionary<string, RegisteredTool> changed) =>
            Volatile.Write(ref current, new ToolSet(changed));

        private static JArray DetailsOf(IEnumerable<RegisteredTool> all, bool includeDevelopmentOnly) => new JArray(
            all.Where(tool => includeDevelopmentOnly || !tool.DisplayDevelopmentOnly).Select(tool => tool.Details()));

        /// <summary>All tools at one moment; never changed.</summary>
        private sealed class ToolSet
        {
            private readonly Lazy<string> hash;

            public ToolSet(IReadOnlyDictionary<string, RegisteredTool> byName)
            {
                ByName = byName;
                Ordered = byName.Values.OrderBy(tool => tool.Name, StringComparer.Ordinal).ToList();
                hash = new Lazy<string>(() => HashOf(DetailsOf(Ordered, true)));
            }

            public IReadOnlyDictionary<string, RegisteredTool> ByName { get; }

            public IReadOnlyList<RegisteredTool> Ordered { get; }

            public string Hash => hash.Value;

            private static string HashOf(JArray details)
            {
                var digest = Sha256.Of(details.ToString(Formatting.None));
                return BitConverter.ToString(digest, 0, 8).Replace("-", "").ToLowerInvariant();
            }
        }
    }
}
