#nullable enable
using System;
using System.IO;
using System.Linq;
using System.Runtime.Versioning;
using System.Threading;
using JobBroker.Bridge.Endpoint;
using JobBroker.Bridge.Tests.Session;
using Xunit;

namespace JobBroker.Bridge.Tests.Endpoint;

/// <summary>The host name of a Mac changes with the network; the id of an Editor, and so its ledger, does not.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class MachineNameTests : IDisposable
{
    private readonly string home = Directory.CreateTempSubdirectory("jb-machine-").FullName;

    private string State => Path.Combine(home, "state");

    private string NameFile => Path.Combine(State, "machine");

    public void Dispose() => Directory.Delete(home, true);

    [Fact]
    public void The_first_host_name_stays_in_a_file_for_this_user_alone()
    {
        Assert.Equal("mac.local", MachineName.Of(State, "mac.local"));
        Assert.Equal("mac.local", MachineName.Of(State, "mac.office.example"));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(NameFile));
        Assert.Equal([NameFile], Directory.GetFiles(State));
    }

    [Fact]
    public void Editors_that_start_at_once_agree_on_one()
    {
        for (var round = 0; round < 50; round++)
        {
            var names = new string[8];
            using var together = new Barrier(names.Length);
            var threads = names.Select((_, index) => new Thread(() =>
            {
                together.SignalAndWait();
                names[index] = MachineName.Of(State, "name-" + index);
            })).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            Assert.Single(names.Distinct());
            Assert.StartsWith("name-", names[0]);
            File.Delete(NameFile);
        }
        Assert.Empty(Directory.GetFiles(State));
    }

    [Fact]
    public void An_Editor_takes_its_id_from_the_file_and_keeps_it_over_domain_reloads()
    {
        Directory.CreateDirectory(State);
        File.WriteAllText(NameFile, "mac.local\n");
        using var bridge = new RunningBridge(options => options.StateFolder = State);
        var id = EditorIdentity.Of(bridge.Editor.Info.ProjectPath, "mac.local").EditorId;
        Assert.Equal(id, bridge.Controller.Status().EditorId);
        File.WriteAllText(NameFile, "mac.office.example\n");
        bridge.Reload();
        Assert.Equal(id, bridge.Controller.Status().EditorId);
    }

    [Fact]
    public void A_file_that_cannot_be_read_keeps_the_bridge_off_and_is_said()
    {
        Directory.CreateDirectory(NameFile);
        using var bridge = new RunningBridge(options => options.StateFolder = State, listens: false);
        Assert.Contains("The name of this machine", bridge.Controller.Status().LastError);
        Directory.Delete(NameFile);
        bridge.Reload();
    }
}
