#nullable enable
using System;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Config;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Config;

public sealed class McpConfigServiceTests : IDisposable
{
    private static readonly DateTime Now = new(2026, 1, 2, 3, 4, 5, 678, DateTimeKind.Utc);

    private readonly TemporaryHome home = new();
    private readonly string main;

    public McpConfigServiceTests() => main = home.NoteBroker();

    public void Dispose() => home.Dispose();

    [Fact]
    public void The_package_carries_the_command_lines_own_table()
    {
        var ours = File.ReadAllBytes(Path.Combine(Repository.Root, "unity-plugin", "Core", "Config", "clients.json"));
        var theirs = File.ReadAllBytes(Path.Combine(Repository.Root, "src", "cli", "clients", "clients.json"));
        Assert.True(ours.SequenceEqual(theirs), "copy src/cli/clients/clients.json to unity-plugin/Core/Config");
    }

    [Fact]
    public void Makes_the_file_where_there_was_none()
    {
        var result = home.Service.Install("cursor", Now);

        Assert.True(result.Written, result.Message);
        Assert.Null(result.Backup);
        var entry = JObject.Parse(File.ReadAllText(home.FileOf("cursor")))["mcpServers"]!["unity"]!;
        Assert.Equal("node", (string)entry["command"]!);
        Assert.Equal([main, "mcp"], entry["args"]!.Select(word => (string)word!));
        Assert.Equal(ClientInstallation.Installed, home.StateOf("cursor").Installation);
    }

    [Fact]
    public void Leaves_what_others_wrote_as_it_was_and_keeps_a_copy()
    {
        const string before = """
            {
              // my servers
              "mcpServers": {
                "files": { "command": "files", "args": ["--all"] }, // keep
                "números": { "url": "https://example.org/é" }
              },
              "theme": { "name": "dark", "big": 123456789012345678901234567890, "tiny": 1.0e-3 }
            }

            """;
        var path = home.Write("gemini", before);

        var result = home.Service.Install("gemini", Now);

        Assert.True(result.Written, result.Message);
        Assert.Equal(path + ".backup-2026-01-02T03-04-05-678Z", result.Backup);
        Assert.Equal(before, File.ReadAllText(result.Backup!));
        var after = File.ReadAllText(path);
        foreach (var line in before.Split('\n').Where(line => !line.Contains("números")))
        {
            Assert.Contains(line.TrimEnd(), after);
        }
        Assert.Equal([".gemini/settings.json", ".gemini/settings.json.backup-2026-01-02T03-04-05-678Z"], home.Files());

        Assert.True(home.Service.Remove("gemini", Now.AddSeconds(1)).Written);
        Assert.Equal(before, File.ReadAllText(path));
    }

    [Fact]
    public void Does_nothing_twice()
    {
        home.Service.Install("cursor", Now);
        var again = home.Service.Install("cursor", Now);
        Assert.False(again.Written);
        Assert.Contains("nothing to change", again.Message);
        Assert.Single(home.Files());
    }

    [Fact]
    public void Leaves_another_server_of_that_name_alone()
    {
        const string before = """{ "mcpServers": { "unity": { "command": "other-bridge" } } }""";
        var path = home.Write("cursor", before);

        Assert.Equal(ClientInstallation.Foreign, home.StateOf("cursor").Installation);
        Assert.Contains("not this broker", home.Service.Install("cursor", Now).Message);
        Assert.Contains("not this broker", home.Service.Remove("cursor", Now).Message);
        Assert.Equal(before, File.ReadAllText(path));
        Assert.Single(home.Files());
    }

    [Fact]
    public void Brings_an_entry_of_ours_up_to_date_and_keeps_what_the_user_added()
    {
        var path = home.Write("cursor", """
            { "mcpServers": { "unity": {
              "command": "node", "args": ["/code/broker/dist/cli/main.js", "mcp"], "env": { "MINE": "1" } } } }
            """);
        Assert.Equal(ClientInstallation.Different, home.StateOf("cursor").Installation);

        Assert.True(home.Service.Install("cursor", Now).Written);

        var entry = JObject.Parse(File.ReadAllText(path))["mcpServers"]!["unity"]!;
        Assert.Equal(main, (string)entry["args"]![0]!);
        Assert.Equal("1", (string)entry["env"]!["MINE"]!);
        Assert.Equal(ClientInstallation.Installed, home.StateOf("cursor").Installation);
    }

    [Fact]
    public void Replaces_an_entry_by_address_whole_because_both_at_once_stop_some_clients()
    {
        var path = home.Write("cursor", """{ "mcpServers": { "unity": { "url": "http://127.0.0.1:8787/mcp" } } }""");
        Assert.Equal(ClientInstallation.Different, home.StateOf("cursor").Installation);

        Assert.True(home.Service.Install("cursor", Now).Written);

        var entry = (JObject)JObject.Parse(File.ReadAllText(path))["mcpServers"]!["unity"]!;
        Assert.False(entry.ContainsKey("url"));
    }

    [Theory]
    [InlineData("{ \"mcpServers\": ")]
    [InlineData("[1, 2]")]
    [InlineData("{ \"mcpServers\": { \"unity\": {}, \"unity\": {} } }")]
    public void Leaves_a_file_that_it_does_not_understand(string broken)
    {
        var path = home.Write("cursor", broken);

        Assert.Equal(ClientInstallation.Unreadable, home.StateOf("cursor").Installation);
        var result = home.Service.Install("cursor", Now);

        Assert.False(result.Written);
        Assert.Contains(path, result.Message);
        Assert.Equal(broken, File.ReadAllText(path));
        Assert.Single(home.Files());
    }

    [Fact]
    public void Sends_people_with_a_TOML_client_to_the_command_line()
    {
        var state = home.StateOf("codex");
        Assert.Equal(ClientInstallation.CommandLineOnly, state.Installation);
        Assert.Contains("\"unity-broker install codex\"", state.Note);
        Assert.False(home.Service.Install("codex", Now).Written);
        Assert.Empty(home.Files());
    }

    [Theory]
    [InlineData(null)]
    [InlineData("{")]
    [InlineData("[]")]
    [InlineData("""{ "command": "node", "args": ["main.js", "mcp"] }""")]
    [InlineData("""{ "command": "node", "args": ["/nowhere/dist/cli/main.js", "mcp"] }""")]
    [InlineData("""{ "command": "npx", "args": ["-y", "unity-job-broker", "mcp"] }""")]
    [InlineData("""{ "command": "/bin/sh", "args": ["-c", "evil"] }""")]
    public void Without_a_broker_that_is_there_it_names_the_command_and_writes_nothing(string? note)
    {
        if (note == null) Directory.Delete(Path.Combine(home.Folder, ".unity-job-broker"), true);
        else home.WriteNote(note);

        var state = home.StateOf("cursor");
        Assert.Equal(ClientInstallation.CommandLineOnly, state.Installation);
        Assert.Contains("unity-broker install cursor", state.Note);
        var result = home.Service.Install("cursor", Now);
        Assert.False(result.Written);
        Assert.Contains("unity-broker install cursor", result.Message);
        Assert.Empty(home.Files());
    }

    [Fact]
    public void Removes_an_entry_also_without_a_broker()
    {
        home.Service.Install("cursor", Now);
        home.WriteNote("{");
        Assert.Equal(ClientInstallation.Installed, home.StateOf("cursor").Installation);
        Assert.True(home.Service.Remove("cursor", Now).Written);
    }
}
