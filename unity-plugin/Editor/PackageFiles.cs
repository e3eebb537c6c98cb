#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Config;
using UnityEditor.PackageManager;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Files that the package brings along. Main thread only.</summary>
    internal static class PackageFiles
    {
        /// <summary>
        /// The table of MCP clients; an empty one, and a warning, where the package's file cannot be read.
        /// </summary>
        public static McpClientTable ClientTable(IBridgeLog log)
        {
            try
            {
                var package = PackageInfo.FindForAssembly(typeof(PackageFiles).Assembly);
                if (package == null) throw new FileNotFoundException("this is not installed as a package");
                return McpClientTable.Parse(File.ReadAllText(Path.Combine(package.resolvedPath, "Core", "Config", "clients.json")));
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException || error is FormatException)
            {
                log.Warn("The list of MCP clients cannot be read: " + error.Message);
                return McpClientTable.Empty;
            }
        }
    }
}
