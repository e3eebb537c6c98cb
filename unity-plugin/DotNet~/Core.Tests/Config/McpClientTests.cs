using System.IO;
using System.Linq;
using JobBroker.Bridge.Config;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Config;

/// <summary>The window's clients are the command line's; what it copies is what the command line would write.</summary>
public sealed class McpClientTests
{
    private static readonly JToken[] Table = JObject.Parse(File.ReadAllText(
        Path.Combine(Repository.Root, "src", "cli", "clients", "clients.json")))["clients"]!.ToArray();

    [Fact]
    public void They_are_those_of_the_command_line() => Assert.Equal(
        Table.Select(row => ((string)row["id"]!, (string)row["title"]!)),
        McpClient.All.Select(client => (client.Id, client.Title)));

    [Fact]
    public void The_configuration_has_the_clients_own_keys()
    {
        foreach (var (row, client) in Table.Zip(McpClient.All))
        {
            var text = client.Configuration(BrokerProgram.ByName);
            var servers = (string)row["servers"]!.Single()!;
            if ((string)row["format"]! == "toml")
            {
                var limits = ((JObject)row["limits"]!).Properties().Select(limit => $"{limit.Name} = {limit.Value}\n");
                Assert.Equal(
                    $"[{servers}.unity]\ncommand = \"unity-broker\"\nargs = [\"mcp\"]\n{string.Concat(limits)}", text);
                continue;
            }
            var entry = (JObject)JObject.Parse(text)[servers]!["unity"]!;
            Assert.Equal("unity-broker", (string)entry["command"]!);
            Assert.Equal(["mcp"], entry["args"]!.Select(word => (string)word!));
            // VS Code alone wants to be told what the entry is; Antigravity ignores one that says it.
            Assert.Equal(client.Id == "vscode" ? "stdio" : null, (string?)entry["type"]);
        }
    }
}
