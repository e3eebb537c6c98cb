#nullable enable
using System;
using System.IO;
using System.Linq;
using System.Runtime.Versioning;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tests.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>Tokens, arguments and results are for this user alone.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class StateFoldersTests : IDisposable
{
    private const UnixFileMode OwnFile = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private const UnixFileMode OwnFolder = OwnFile | UnixFileMode.UserExecute;
    private const UnixFileMode Others =
        UnixFileMode.GroupRead | UnixFileMode.GroupExecute | UnixFileMode.OtherRead | UnixFileMode.OtherExecute;

    private readonly string home = Directory.CreateTempSubdirectory("jb-state-").FullName;

    public void Dispose() => Directory.Delete(home, true);

    private string State => Path.Combine(home, "state");

    private static void ExpectPrivate(string folder)
    {
        Assert.Equal(OwnFolder, File.GetUnixFileMode(folder));
        foreach (var below in Directory.GetDirectories(folder, "*", SearchOption.AllDirectories))
        {
            Assert.True(OwnFolder == File.GetUnixFileMode(below), below);
        }
        foreach (var file in Directory.GetFiles(folder, "*", SearchOption.AllDirectories))
        {
            Assert.True(OwnFile == File.GetUnixFileMode(file), file);
        }
    }

    [Fact]
    public void Whatever_the_bridge_keeps_is_for_its_user_alone()
    {
        using var bridge = new RunningBridge(options => options.StateFolder = State);
        using var owner = bridge.Owner();
        owner.Request(3, "ping");
        owner.Answer(3);
        Assert.True(File.Exists(Path.Combine(State, "ledger", Path.GetFileNameWithoutExtension(bridge.EndpointFile), "ledger.log")));
        ExpectPrivate(State);
    }

    [Fact]
    public void Folders_and_files_that_an_older_version_left_open_are_closed()
    {
        var ledger = Path.Combine(State, "ledger", "game");
        Directory.CreateDirectory(Path.Combine(ledger, "results"));
        Directory.CreateDirectory(Path.Combine(State, "editors"));
        File.WriteAllText(Path.Combine(ledger, "ledger.log"), "");
        File.WriteAllText(Path.Combine(ledger, "results", "one.json"), "{}");
        foreach (var folder in Directory.GetDirectories(State, "*", SearchOption.AllDirectories).Append(State))
        {
            File.SetUnixFileMode(folder, OwnFolder | Others);
        }
        foreach (var file in Directory.GetFiles(State, "*", SearchOption.AllDirectories))
        {
            File.SetUnixFileMode(file, OwnFile | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
        }

        new StateFolders(new BridgeOptions { StateFolder = State }, "game").RestrictToUser();

        ExpectPrivate(State);
        Assert.Equal("{}", File.ReadAllText(Path.Combine(ledger, "results", "one.json")));
    }

    [Fact]
    public void Files_of_a_ledger_that_somebody_placed_elsewhere_are_private_too()
    {
        var ledger = Path.Combine(home, "chosen");
        Directory.CreateDirectory(ledger);
        File.SetUnixFileMode(ledger, OwnFolder | Others);
        File.WriteAllText(Path.Combine(ledger, "ledger.log"), "");
        using (var opened = OperationLedger.Open(new LedgerOptions(ledger), new ManualClock()))
        {
            opened.Ended("large", result: new string('x', 1_000_000));
            foreach (var file in Directory.GetFiles(ledger, "*", SearchOption.AllDirectories))
            {
                Assert.True(OwnFile == File.GetUnixFileMode(file), file);
            }
            Assert.Single(Directory.GetFiles(Path.Combine(ledger, "results")));
            Assert.Equal(OwnFolder, File.GetUnixFileMode(Path.Combine(ledger, "results")));
        }
        Assert.Equal(OwnFolder | Others, File.GetUnixFileMode(ledger));
    }

    [Fact]
    public void Folders_that_somebody_chose_keep_their_rights_and_the_state_folder_is_not_made()
    {
        var editors = Directory.CreateDirectory(Path.Combine(home, "editors")).FullName;
        File.SetUnixFileMode(editors, OwnFolder | Others);
        var options = new BridgeOptions
        {
            StateFolder = State, EndpointFolder = editors, LedgerFolder = Path.Combine(home, "chosen"),
        };
        new StateFolders(options, "game").RestrictToUser();
        Assert.Equal(OwnFolder | Others, File.GetUnixFileMode(editors));
        Assert.False(Directory.Exists(State));
    }

    [RootFact]
    public void A_folder_of_another_user_is_refused_with_the_command_that_helps()
    {
        Directory.CreateDirectory(State);
        File.SetUnixFileMode(home, OwnFolder | Others);
        File.SetUnixFileMode(State, OwnFolder | Others | UnixFileMode.OtherWrite);
        using var nobody = ChildProcess.Start(
            "setpriv",
            [
                "--reuid=65534", "--regid=65534", "--clear-groups", TestRuntime.Program, ChildProcess.Assembly,
                "state-own", State,
            ]);
        var output = nobody.Line();
        Assert.StartsWith("refused ", output);
        Assert.Contains("belongs to another user", output);
        Assert.Contains($"chmod 700 '{State}'", output);
        Assert.Empty(Directory.GetFileSystemEntries(State));
    }

    private sealed class RootFactAttribute : FactAttribute
    {
        public RootFactAttribute()
        {
            if (Environment.UserName != "root") Skip = "Only root may start a process as another user.";
        }
    }
}
