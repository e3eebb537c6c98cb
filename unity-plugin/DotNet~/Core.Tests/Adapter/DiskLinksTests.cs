#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Adapter;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

public sealed class DiskLinksTests : IDisposable
{
    private readonly string project = Directory.CreateTempSubdirectory("jb-links-").FullName;
    private readonly string elsewhere = Directory.CreateTempSubdirectory("jb-elsewhere-").FullName;

    public void Dispose()
    {
        Directory.Delete(project, true);
        Directory.Delete(elsewhere, true);
    }

    [Theory]
    [InlineData("Assets/Art/Rock.mat", null)]
    [InlineData("Assets/None/Rock.mat", null)]
    [InlineData("Assets/Shared", "Assets/Shared")]
    [InlineData("Assets/Shared/Deep/Rock.mat", "Assets/Shared")]
    [InlineData("Assets/Art/Link.mat", "Assets/Art/Link.mat")]
    [InlineData("Assets/Gone/Rock.mat", "Assets/Gone")]
    public void Finds_the_first_link_of_a_path(string path, string? link)
    {
        Directory.CreateDirectory(Path.Combine(project, "Assets", "Art"));
        Directory.CreateDirectory(Path.Combine(elsewhere, "Deep"));
        File.WriteAllText(Path.Combine(elsewhere, "Rock.mat"), "");
        Directory.CreateSymbolicLink(Path.Combine(project, "Assets", "Shared"), elsewhere);
        Directory.CreateSymbolicLink(Path.Combine(project, "Assets", "Gone"), Path.Combine(elsewhere, "None"));
        File.CreateSymbolicLink(Path.Combine(project, "Assets", "Art", "Link.mat"), Path.Combine(elsewhere, "Rock.mat"));
        Assert.Equal(link, DiskLinks.FirstIn(project, path));
    }
}
