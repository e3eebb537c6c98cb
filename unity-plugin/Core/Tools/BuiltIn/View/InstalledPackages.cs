#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>A package of the project.</summary>
    public sealed class InstalledPackage
    {
        public string Name { get; set; } = "";

        /// <summary>A version, or where it is: a folder, a repository.</summary>
        public string Version { get; set; } = "";

        /// <summary>registry, builtin, embedded, local, git or local-tarball.</summary>
        public string Source { get; set; } = "";
    }

    /// <summary>
    /// The packages that the project asks for, as Unity has resolved them: from the file in which Unity notes that, so that
    /// nothing waits for the Package Manager.
    /// </summary>
    internal static class InstalledPackages
    {
        /// <summary>Those that only others need are left out; empty while Unity has not resolved any.</summary>
        public static IReadOnlyList<InstalledPackage> Of(string projectPath)
        {
            try
            {
                var text = File.ReadAllText(Path.Combine(projectPath, "Packages", "packages-lock.json"));
                var packages = JObject.Parse(text)["dependencies"] as JObject ?? new JObject();
                return packages.Properties()
                    .Where(one => one.Value is JObject package && ((int?)package["depth"] ?? 0) == 0)
                    .Select(one => new InstalledPackage
                    {
                        Name = one.Name,
                        Version = (string?)one.Value["version"] ?? "",
                        Source = (string?)one.Value["source"] ?? "",
                    })
                    .ToList();
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException || error is JsonException)
            {
                return Array.Empty<InstalledPackage>();
            }
        }
    }
}
