#nullable enable
using System;
using System.IO;
using System.Runtime.Versioning;
using System.Text;
using JobBroker.Bridge.Config;
using Xunit;

namespace JobBroker.Bridge.Tests.Config;

[UnsupportedOSPlatform("windows")]
public sealed class McpConfigRepositoryTests : IDisposable
{
    private static readonly DateTime Now = new(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc);

    private readonly string folder = Directory.CreateTempSubdirectory("jb-config-").FullName;
    private readonly McpConfigRepository repository = new();

    private string FilePath => Path.Combine(folder, "mcp.json");

    public void Dispose() => Directory.Delete(folder, true);

    [Fact]
    public void Keeps_the_byte_order_mark_and_the_mode()
    {
        File.WriteAllText(FilePath, "{}", new UTF8Encoding(true));
        File.SetUnixFileMode(FilePath, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        var file = repository.Read(FilePath);
        Assert.Equal("{}", file.Text);

        var backup = repository.Replace(file, "{ }", Now);

        Assert.Equal([0xEF, 0xBB, 0xBF, (byte)'{', (byte)' ', (byte)'}'], File.ReadAllBytes(FilePath));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(FilePath));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(backup!));
    }

    [Fact]
    public void Replaces_nothing_that_somebody_changed_in_between()
    {
        File.WriteAllText(FilePath, "{}");
        var file = repository.Read(FilePath);
        File.WriteAllText(FilePath, "{ \"theirs\": 1 }");

        var error = Assert.Throws<IOException>(() => repository.Replace(file, "{ \"ours\": 1 }", Now));

        Assert.Contains("changed by another program", error.Message);
        Assert.Equal("{ \"theirs\": 1 }", File.ReadAllText(FilePath));
        Assert.Single(Directory.GetFiles(folder));
    }

    [Fact]
    public void Overwrites_nothing_that_appeared_in_between()
    {
        var file = repository.Read(FilePath);
        File.WriteAllText(FilePath, "{ \"theirs\": 1 }");

        Assert.Throws<IOException>(() => repository.Replace(file, "{ \"ours\": 1 }", Now));

        Assert.Equal("{ \"theirs\": 1 }", File.ReadAllText(FilePath));
    }

    [Fact]
    public void Follows_a_symbolic_link_and_leaves_it_one()
    {
        var real = Path.Combine(Directory.CreateDirectory(Path.Combine(folder, "dotfiles")).FullName, "mcp.json");
        File.WriteAllText(real, "{}");
        File.CreateSymbolicLink(FilePath, real);

        repository.Replace(repository.Read(FilePath), "{ }", Now);

        Assert.Equal("{ }", File.ReadAllText(real));
        Assert.NotNull(new FileInfo(FilePath).LinkTarget);
    }

    [Fact]
    public void Does_not_put_a_file_over_a_link_that_leads_nowhere()
    {
        File.CreateSymbolicLink(FilePath, Path.Combine(folder, "gone", "mcp.json"));

        var error = Assert.Throws<IOException>(() => repository.Replace(repository.Read(FilePath), "{}", Now));

        Assert.Contains("unity-broker install", error.Message);
        Assert.NotNull(new FileInfo(FilePath).LinkTarget);
    }

    [Fact]
    public void Respects_a_file_that_is_read_only()
    {
        File.WriteAllText(FilePath, "{}");
        File.SetUnixFileMode(FilePath, UnixFileMode.UserRead);

        var error = Assert.Throws<IOException>(() => repository.Replace(repository.Read(FilePath), "{ }", Now));

        Assert.Contains("read-only", error.Message);
        Assert.Equal("{}", File.ReadAllText(FilePath));
    }

    [Fact]
    public void Leaves_what_is_not_UTF8()
    {
        File.WriteAllBytes(FilePath, [0x7B, 0xE9, 0x7D]);
        var error = Assert.Throws<IOException>(() => repository.Read(FilePath));
        Assert.Contains("not UTF-8", error.Message);
    }
}
