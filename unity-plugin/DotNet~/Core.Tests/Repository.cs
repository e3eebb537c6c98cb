#nullable enable
using System;
using System.IO;

namespace JobBroker.Bridge.Tests;

/// <summary>The working copy that these tests were built from.</summary>
internal static class Repository
{
    public static string Root { get; } = Find();

    private static string Find()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!Directory.Exists(Path.Combine(folder.FullName, "test", "golden"))) folder = folder.Parent!;
        return folder.FullName;
    }
}
