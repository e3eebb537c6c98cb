#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Config;
using Xunit;

namespace JobBroker.Bridge.Tests.Config;

public sealed class ConfigMachineTests
{
    [Theory]
    [InlineData("linux", "vscode", "", "", "/home/ada/.config/Code/User/mcp.json")]
    [InlineData("linux", "vscode", "XDG_CONFIG_HOME", "/cfg", "/cfg/Code/User/mcp.json")]
    [InlineData("linux", "vscode", "XDG_CONFIG_HOME", "relative", "/home/ada/.config/Code/User/mcp.json")]
    [InlineData("freebsd", "cursor", "", "", "/home/ada/.cursor/mcp.json")]
    [InlineData("darwin", "claude-desktop", "", "", "/home/ada/Library/Application Support/Claude/claude_desktop_config.json")]
    [InlineData("win32", "vscode", "APPDATA", @"C:\Users\ada\AppData\Roaming", @"C:\Users\ada\AppData\Roaming\Code\User\mcp.json")]
    [InlineData("win32", "cursor", "", "", @"\home\ada\.cursor\mcp.json")]
    public void Finds_the_users_file(string platform, string client, string name, string value, string expected)
    {
        var environment = name.Length == 0 ? [] : new Dictionary<string, string> { [name] = value };
        var machine = new ConfigMachine(platform, environment, "/home/ada");
        Assert.Equal(expected, machine.UserFile(TemporaryHome.Table.Clients.Single(one => one.Id == client)));
    }

    [Fact]
    public void Knows_which_clients_have_a_file_for_a_project()
    {
        var machine = new ConfigMachine("linux", new Dictionary<string, string>(), "/home/ada");
        Assert.Equal("/p/.cursor/mcp.json", machine.ProjectFile(TemporaryHome.Table.Clients.Single(one => one.Id == "cursor"), "/p/"));
        Assert.Null(machine.ProjectFile(TemporaryHome.Table.Clients.Single(one => one.Id == "windsurf"), "/p"));
    }
}
