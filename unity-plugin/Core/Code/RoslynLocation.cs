#nullable enable
using System;
using System.Collections.Generic;
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

        /// <summary>
        /// Looks through the folders that Editors have used; null when there is none. Up to 6000.4 the compiler is in
        /// DotNetSdkRoslyn, from 6000.5 on in a whole SDK.
        /// </summary>
        /// <param name="contents">The Editor's folder of data (EditorApplication.applicationContentsPath).</param>
        /// <param name="scripting">Where the Editor itself says that its compiler is; null when it does not.</param>
        public static RoslynLocation? In(string contents, string? scripting = null)
        {
            var roots = new[] { contents, Path.Combine(contents, "Resources", "Scripting"), Path.Combine(contents, "Tools") };
            if (scripting != null) roots = roots.Prepend(scripting).ToArray();
            return roots.Select(InSdk).FirstOrDefault(found => found != null)
                ?? Existing(
                    roots.Select(root => Path.Combine(root, "NetCoreRuntime", Program)),
                    roots.Select(root => Path.Combine(root, "DotNetSdkRoslyn", "csc.dll")));
        }

        private static string Program => RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? "dotnet.exe" : "dotnet";

        /// <summary>The newest of the SDKs in DotNetSdk/sdk; previews are left out, as the Editor leaves them out.</summary>
        private static RoslynLocation? InSdk(string root)
        {
            var folder = Path.Combine(root, "DotNetSdk", "sdk");
            if (!Directory.Exists(folder)) return null;
            var newestFirst = Directory.GetDirectories(folder)
                .Select(sdk => (Path: sdk, Version: VersionOf(Path.GetFileName(sdk))))
                .Where(sdk => sdk.Version != null)
                .OrderByDescending(sdk => sdk.Version)
                .Select(sdk => Path.Combine(sdk.Path, "Roslyn", "bincore", "csc.dll"));
            return Existing(new[] { Path.Combine(root, "DotNetSdk", Program) }, newestFirst);
        }

        private static Version? VersionOf(string name) => Version.TryParse(name, out var version) ? version : null;

        private static RoslynLocation? Existing(IEnumerable<string> programs, IEnumerable<string> compilers)
        {
            var dotnet = programs.FirstOrDefault(File.Exists);
            var compiler = compilers.FirstOrDefault(File.Exists);
            return compiler == null || dotnet == null ? null : new RoslynLocation(dotnet, compiler);
        }
    }
}
