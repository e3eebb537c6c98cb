#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace JobBroker.Bridge.Tests;

/// <summary>What these tests run on: .NET, or Mono (Core.Tests.Mono).</summary>
internal static class TestRuntime
{
#if NETFRAMEWORK
    /// <summary>The program that runs the child.</summary>
    public static string Program { get; } = File.ReadAllText("/proc/self/cmdline").Split('\0')[0];

    public const string Child = "Core.Tests.exe";

    public const string DiskFull = "Disk full";

    private static string SdkRoot { get; } = Environment.GetEnvironmentVariable("PATH")!.Split(':')
        .Select(folder => Path.Combine(folder, "dotnet"))
        .Where(File.Exists)
        .Select(path => Path.GetDirectoryName(new FileInfo(path).LinkTarget ?? path)!)
        .First();
#else
    /// <summary>The program that runs the child.</summary>
    public static string Program { get; } =
        Environment.ProcessPath is { } path && Path.GetFileName(path).StartsWith("dotnet") ? path : "dotnet";

    public const string Child = "Core.Tests.Child.dll";

    public const string DiskFull = "No space left";

    private static string SdkRoot { get; } =
        Path.GetFullPath(Path.Combine(Path.GetDirectoryName(typeof(object).Assembly.Location)!, "..", "..", ".."));
#endif

    /// <summary>The program of the .NET SDK, which runs the compiler.</summary>
    public static string Dotnet => Path.Combine(SdkRoot, OperatingSystem.IsWindows() ? "dotnet.exe" : "dotnet");

    /// <summary>The C# compiler of the .NET SDK.</summary>
    public static string Compiler => Directory.GetDirectories(Path.Combine(SdkRoot, "sdk"))
        .OrderBy(path => path)
        .Select(sdk => Path.Combine(sdk, "Roslyn", "bincore", "csc.dll"))
        .Last(File.Exists);

    /// <summary>The assemblies that code of a test may use: those that this process has loaded, each once.</summary>
    public static IReadOnlyList<string> References() => AppDomain.CurrentDomain.GetAssemblies()
        .Where(assembly => !assembly.IsDynamic && assembly.Location.Length > 0)
        .GroupBy(assembly => assembly.GetName().Name)
        .Select(group => group.First().Location)
        .ToList();
}
