#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Code;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

/// <summary>Where Editors of each age keep their C# compiler.</summary>
public sealed class RoslynLocationTests : IDisposable
{
    private static readonly string Program = OperatingSystem.IsWindows() ? "dotnet.exe" : "dotnet";

    private readonly string contents = Directory.CreateTempSubdirectory("jb-contents-").FullName;

    public void Dispose() => Directory.Delete(contents, true);

    [Fact]
    public void Beside_a_runtime_of_its_own()
    {
        Assert.Null(RoslynLocation.In(contents));
        var compiler = Made("DotNetSdkRoslyn", "csc.dll");
        Assert.Null(RoslynLocation.In(contents));
        var dotnet = Made("NetCoreRuntime", Program);
        Assert.Equal((dotnet, compiler), Found());
    }

    [Fact]
    public void In_the_newest_finished_SDK()
    {
        var dotnet = Made("DotNetSdk", Program);
        Made("DotNetSdk", "sdk", "9.0.100", "Roslyn", "bincore", "csc.dll");
        var compiler = Made("DotNetSdk", "sdk", "10.0.101", "Roslyn", "bincore", "csc.dll");
        Made("DotNetSdk", "sdk", "11.0.100-preview.1", "Roslyn", "bincore", "csc.dll");
        Directory.CreateDirectory(Path.Combine(contents, "DotNetSdk", "sdk", "12.0.1"));
        Assert.Equal((dotnet, compiler), Found());
    }

    [Fact]
    public void Where_the_Editor_says_that_its_scripting_is()
    {
        var dotnet = Made("Elsewhere", "DotNetSdk", Program);
        var compiler = Made("Elsewhere", "DotNetSdk", "sdk", "8.0.318", "Roslyn", "bincore", "csc.dll");
        Assert.Null(RoslynLocation.In(contents));
        Assert.Equal((dotnet, compiler), Found(Path.Combine(contents, "Elsewhere")));
    }

    private (string Dotnet, string Compiler)? Found(string? scripting = null) =>
        RoslynLocation.In(contents, scripting) is { } found ? (found.Dotnet, found.Compiler) : null;

    private string Made(params string[] parts)
    {
        var path = Path.Combine(contents, Path.Combine(parts));
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, "");
        return path;
    }
}
