#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Versioning;
using System.Threading.Tasks;
using JobBroker.Bridge.Config;
using JobBroker.Bridge.Tests.Adapter;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Config;

/// <summary>Programs that stand in for the command line, in processes of their own.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class ClientInstallerTests : IDisposable
{
    private static readonly McpClient Cursor = McpClient.All.Single(client => client.Id == "cursor");

    private readonly string home = Directory.CreateTempSubdirectory("jb home ").FullName;
    private readonly List<string> copied = [];
    private readonly List<string> logged = [];
    private ClientInstaller? installer;

    public void Dispose()
    {
        installer?.Dispose();
        Directory.Delete(home, true);
    }

    private string Bin => Path.Combine(home, "bin");

    private ClientInstaller Installer => installer ??= new ClientInstaller(
        new ConfigMachine(false, home, Bin + Path.PathSeparator + "/usr/bin" + Path.PathSeparator + "/bin"), copied.Add, new Log(logged));

    /// <summary>A program that says how it was called.</summary>
    private string Program(string name, string then = "")
    {
        Directory.CreateDirectory(Bin);
        var file = Path.Combine(Bin, name);
        File.WriteAllText(file, $"#!/bin/sh\necho \"${{0##*/}}:$*\"\n{then}\n");
        File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return file;
    }

    private void Note(string command, params string[] arguments)
    {
        var note = new JObject { ["command"] = command, ["args"] = new JArray(arguments.Append("mcp")) };
        Directory.CreateDirectory(Path.Combine(home, ".unity-job-broker"));
        File.WriteAllText(Path.Combine(home, ".unity-job-broker", "launch.json"), note.ToString());
    }

    private async Task<string> Said()
    {
        while (Installer.IsBusy) await Task.Yield();
        return Installer.Note;
    }

    [Fact]
    public async Task The_command_line_on_the_path_installs_and_removes()
    {
        Program("unity-broker");
        Installer.Install(Cursor);
        Assert.Equal("unity-broker:install cursor", await Said());
        Installer.Remove(Cursor);
        Assert.Equal("unity-broker:uninstall cursor", await Said());
        Assert.Empty(copied);
    }

    [Fact]
    public async Task The_broker_that_ran_here_last_goes_first_also_with_spaces_in_its_path()
    {
        Program("unity-broker");
        var main = Path.Combine(home, "main.js");
        File.WriteAllText(main, "");
        Program("node");
        Note("node", main);
        Installer.Install(Cursor);
        Assert.Equal($"node:{main} install cursor", await Said());

        // Gone: the one on the path is left.
        File.Delete(main);
        Installer.Install(Cursor);
        Assert.Equal("unity-broker:install cursor", await Said());
    }

    [Theory]
    [InlineData("exit 1", "unity-broker failed: unity-broker:install cursor\nthe file is read-only")]
    [InlineData("exit 0", "unity-broker:install cursor\nthe file is read-only")]
    public async Task What_it_says_is_shown_also_when_it_fails(string end, string expected)
    {
        Program("unity-broker", "echo the file is read-only >&2; " + end);
        Installer.Install(Cursor);
        Assert.Equal(expected, await Said());
    }

    [Fact]
    public void Without_it_the_configuration_is_copied_and_said()
    {
        Installer.Install(Cursor);
        Assert.Contains("unity-broker was not found on this machine", Installer.Note);
        Assert.Contains("is on the clipboard", Installer.Note);
        Assert.Equal("unity-broker", (string?)JObject.Parse(Assert.Single(copied))["mcpServers"]!["unity"]!["command"]);

        Installer.Remove(Cursor);
        Assert.Contains("by hand", Installer.Note);
        Assert.Single(copied);
    }

    [Fact]
    public void A_noted_broker_whose_program_is_nowhere_is_what_is_copied()
    {
        var main = Path.Combine(home, "main.js");
        File.WriteAllText(main, "");
        Note("node-of-another-shell", main);
        Installer.Install(Cursor);
        Assert.Equal(main, (string?)JObject.Parse(Assert.Single(copied))["mcpServers"]!["unity"]!["args"]![0]);
    }

    [Theory]
    [InlineData("{")]
    [InlineData("[]")]
    [InlineData("""{ "command": "sh", "args": ["-c", "touch hacked", "mcp"] }""")]
    [InlineData("""{ "command": "sh", "args": [] }""")]
    [InlineData("""{ "command": 7, "args": [{}, "mcp"] }""")]
    public void A_note_that_names_no_broker_by_its_path_runs_nothing(string note)
    {
        Directory.CreateDirectory(Path.Combine(home, ".unity-job-broker"));
        File.WriteAllText(Path.Combine(home, ".unity-job-broker", "launch.json"), note);
        Installer.Install(Cursor);
        Assert.False(Installer.IsBusy);
        Assert.Contains("was not found", Installer.Note);
    }

    [Fact]
    public async Task One_at_a_time_and_the_end_of_the_bridge_ends_it()
    {
        using var hanging = new HangingProgram();
        Directory.CreateDirectory(Bin);
        File.CreateSymbolicLink(Path.Combine(Bin, "unity-broker"), hanging.Path);
        Installer.Install(Cursor);
        var pid = await hanging.Started;
        Assert.True(Installer.IsBusy);
        Assert.Equal("unity-broker install cursor …", Installer.Note);
        Installer.Remove(Cursor);
        Assert.Equal("unity-broker install cursor …", Installer.Note);

        Installer.Dispose();

        Assert.Contains("failed", await Said());
        Assert.False(HangingProgram.IsAlive(pid));
        Assert.Empty(logged);
        Installer.Install(Cursor);
        Assert.False(Installer.IsBusy);
    }

    private sealed class Log(List<string> lines) : IBridgeLog
    {
        public void Info(string message) => lines.Add(message);

        public void Warn(string message) => lines.Add(message);
    }
}
