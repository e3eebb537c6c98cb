#nullable enable
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace JobBroker.Bridge.Code
{
    /// <summary>Where an Editor keeps its C# compiler and the runtime for it.</summary>
    public sealed class RoslynLocation
    {
        public RoslynLocation(string dotnet, string compiler)
        {
            Dotnet = dotnet;
            Compiler = compiler;
        }

        /// <summary>Path of the program that runs the compiler.</summary>
        public string Dotnet { get; }

        /// <summary>Path of csc.dll.</summary>
        public string Compiler { get; }

        /// <summary>Looks through the folders that Editors have used; null when there is none.</summary>
        /// <param name="contents">The Editor's folder of data (EditorApplication.applicationContentsPath).</param>
        public static RoslynLocation? In(string contents)
        {
            var program = RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? "dotnet.exe" : "dotnet";
            var roots = new[] { contents, Path.Combine(contents, "Resources", "Scripting"), Path.Combine(contents, "Tools") };
            var compiler = roots.Select(root => Path.Combine(root, "DotNetSdkRoslyn", "csc.dll")).FirstOrDefault(File.Exists);
            var dotnet = roots.Select(root => Path.Combine(root, "NetCoreRuntime", program)).FirstOrDefault(File.Exists);
            return compiler == null || dotnet == null ? null : new RoslynLocation(dotnet, compiler);
        }
    }
}
