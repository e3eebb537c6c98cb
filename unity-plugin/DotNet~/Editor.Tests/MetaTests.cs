#nullable enable
using System;
using System.IO;
using JobBroker.Metas;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

public sealed class MetaTests : IDisposable
{
    private readonly string folder = Directory.CreateTempSubdirectory("jb-metas-").FullName;

    public MetaTests()
    {
        Directory.CreateDirectory(Path.Combine(folder, "Core", "Inner"));
        Directory.CreateDirectory(Path.Combine(folder, "Samples~"));
        Directory.CreateDirectory(Path.Combine(folder, "DotNet~", "Metas"));
        foreach (var file in new[] { "package.json", "README.md", "Core/A.cs", "Core/Inner/B.asmdef", "Samples~/C.cs", ".hidden" })
        {
            File.WriteAllText(Path.Combine(folder, file), "");
        }
    }

    private MetaTree Tree => new(folder);

    public void Dispose() => Directory.Delete(folder, true);

    [Fact]
    public void Every_file_of_the_package_has_its_meta()
    {
        var faults = new MetaTree(Package.Folder).Faults();
        Assert.True(faults.Count == 0, string.Join("\n", faults));
    }

    [Fact]
    public void Makes_one_for_each_visible_file_and_folder()
    {
        Assert.Equal(6, Tree.Faults().Count);
        Assert.Equal(["Core", "Core/A.cs", "Core/Inner", "Core/Inner/B.asmdef", "README.md", "package.json"], Tree.Generate());
        Assert.Empty(Tree.Faults());
        Assert.Empty(Tree.Generate());
        Assert.Empty(Directory.GetFiles(Path.Combine(folder, "Samples~"), "*.meta"));
    }

    [Fact]
    public void Names_the_importer_that_Unity_uses()
    {
        Tree.Generate();
        Assert.Contains("\nfolderAsset: yes\nDefaultImporter:\n", Read("Core"));
        Assert.Contains("\nMonoImporter:\n", Read("Core/A.cs"));
        Assert.Contains("\nAssemblyDefinitionImporter:\n", Read("Core/Inner/B.asmdef"));
        Assert.Contains("\nPackageManifestImporter:\n", Read("package.json"));
        Assert.Contains("\nTextScriptImporter:\n", Read("README.md"));
        Assert.Throws<NotSupportedException>(() => MetaText.ImporterOf("a.psd", false));
    }

    [Fact]
    public void A_path_always_has_the_same_GUID()
    {
        // Frozen: references in people's projects hang on it.
        Assert.Equal("3add42654805b2e39030964950d5a552", MetaText.GuidOf("Core"));
        Assert.NotEqual(MetaText.GuidOf("Core"), MetaText.GuidOf("core"));
    }

    [Fact]
    public void Never_touches_one_that_is_there()
    {
        Tree.Generate();
        const string theirs = "fileFormatVersion: 2\nguid: 00000000000000000000000000000001\nMonoImporter:\n  userData: \n";
        Write("Core/A.cs", theirs);
        Tree.Generate();
        Assert.Equal(theirs, Read("Core/A.cs"));
        Assert.Contains("was changed", Assert.Single(Tree.Faults()));
    }

    [Fact]
    public void Finds_orphans_and_duplicates_and_what_is_no_meta()
    {
        Tree.Generate();
        File.Delete(Path.Combine(folder, "Core", "A.cs"));
        Assert.Contains("Core/A.cs.meta belongs to nothing", Assert.Single(Tree.Faults()));

        File.WriteAllText(Path.Combine(folder, "Core", "A.cs"), "");
        Write("README.md", Read("README.md").Replace(MetaText.GuidOf("README.md"), MetaText.GuidOf("package.json")));
        Assert.Contains(Tree.Faults(), fault => fault.Contains("has the GUID of"));

        Write("README.md", "guid: nonsense");
        Assert.Contains("is not the meta of such a file", Assert.Single(Tree.Faults()));
    }

    [Fact]
    public void A_moved_file_keeps_its_GUID_when_it_is_named()
    {
        Tree.Generate();
        File.Move(Path.Combine(folder, "Core", "A.cs"), Path.Combine(folder, "Core", "Z.cs"));
        File.Move(Path.Combine(folder, "Core", "A.cs.meta"), Path.Combine(folder, "Core", "Z.cs.meta"));
        Assert.Contains("was changed", Assert.Single(Tree.Faults()));

        File.WriteAllText(Path.Combine(folder, "DotNet~", "Metas", "moved.txt"), "Core/Z.cs <- Core/A.cs\n");
        Assert.Empty(Tree.Faults());
        Assert.Equal(MetaText.GuidOf("Core/A.cs"), MetaText.GuidIn(Read("Core/Z.cs")));
    }

    private string Read(string path) => File.ReadAllText(Path.Combine(folder, path + ".meta"));

    private void Write(string path, string text) => File.WriteAllText(Path.Combine(folder, path + ".meta"), text);
}
