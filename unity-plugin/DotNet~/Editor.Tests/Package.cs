#nullable enable
using System;
using System.IO;
using Xunit;

// The stubs are one Editor: its state is static, as Unity's is.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>The package's folder that these tests were built from.</summary>
internal static class Package
{
    public static string Folder { get; } = Find();

    private static string Find()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(folder.FullName, "package.json"))) folder = folder.Parent!;
        return folder.FullName;
    }
}
