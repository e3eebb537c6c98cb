#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Config;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Window;

public sealed class McpEditorWindowPresenterTests : IDisposable
{
    private readonly List<string> copied = [];
    private readonly ClientInstaller installer;
    private readonly InMemoryEditor editor = new();
    private readonly ScriptedControl bridge = new();
    private readonly MemorySettings settings = new();
    private readonly McpCommunicationLog log;
    private readonly McpEditorWindowPresenter presenter;

    public McpEditorWindowPresenterTests()
    {
        // No program is found from there.
        installer = new ClientInstaller(new ConfigMachine(true, "/nowhere", ""), copied.Add, new Silent());
        log = new McpCommunicationLog(editor.Clock);
        presenter = new McpEditorWindowPresenter(bridge, settings, installer, log, editor.Clock);
    }

    public void Dispose()
    {
        editor.Dispose();
        installer.Dispose();
    }

    [Fact]
    public void Says_that_nothing_listens_and_why()
    {
        bridge.Now = new BridgeStatus { LastError = "Port 8700 is taken by another process." };
        var view = presenter.View();
        Assert.False(view.IsRunning);
        Assert.Equal("Stopped", view.Headline);
        Assert.Equal("Port 8700 is taken by another process.", view.Problem);
        Assert.False(view.CanHandOver);
    }

    [Fact]
    public void Shows_server_clients_queue_and_the_running_operation()
    {
        var now = editor.Clock.NowMs;
        bridge.Now = new BridgeStatus
        {
            Running = true,
            Port = 8702,
            WorkerConnected = true,
            Worker = "broker-1 0.1.0",
            EditorId = "game@12345678",
            BoundStore = "store-1",
            Clients = [new ConnectedClient("Cursor", now - 5_000), new ConnectedClient("", now - 70_000)],
            Queue = [new QueuedStatus("a", "compile"), new QueuedStatus("b", "run-tests")],
            RunningOperation = new RunningStatus("c", "build-player", now - 192_000, 40, 100, "Scene Assets/Main.unity"),
        };

        Assert.Empty(presenter.View().Clients);
        presenter.SetPlainSurface(true);
        var view = presenter.View();

        Assert.Equal("Listening on 127.0.0.1:8702, driven by a job broker", view.Headline);
        Assert.Equal("broker-1 0.1.0", view.Facts.Single(fact => fact.Label == "Broker").Text);
        Assert.True(view.CanHandOver);
        Assert.Equal(["Cursor, heard 5 s ago", "a client without a name, heard 1 min 10 s ago"], view.Clients);
        Assert.Equal(["1. compile", "2. run-tests"], view.Queue);
        Assert.Equal("build-player, for 3 min 12 s, 40 of 100: Scene Assets/Main.unity", view.Running!.Text);
        Assert.Equal(0.4f, view.Running.Fraction);
    }

    [Fact]
    public void Shows_the_brokers_clients_with_what_each_does_and_counts_those_that_it_does_not_name()
    {
        Assert.Empty(presenter.View().McpClients);
        bridge.Now = new BridgeStatus
        {
            McpClients = new ClientReport(
                [
                    new ReportedClient("claude-code", "1.0.3", "stdio", "run-tests", 2),
                    new ReportedClient("cursor", "", "http", null, 1),
                    new ReportedClient("codex", "", "http"),
                ],
                6),
        };
        Assert.Equal(
            ["claude-code 1.0.3, over stdio: runs run-tests, waits for 2", "cursor, over http: waits for 1", "codex, over http", "and 3 more"],
            presenter.View().McpClients);
    }

    [Theory]
    [InlineData(null, 100.0)]
    [InlineData(5.0, null)]
    [InlineData(5.0, 0.0)]
    public void Shows_no_bar_where_nobody_knows_how_far_it_is(double? progress, double? total)
    {
        bridge.Now = new BridgeStatus { RunningOperation = new RunningStatus("c", "compile", 0, progress, total, null) };
        Assert.Null(presenter.View().Running!.Fraction);
    }

    [Fact]
    public void Everything_that_runs_other_peoples_code_is_off_at_first()
    {
        Assert.All(presenter.View().Security, one => Assert.False(one.IsOn));
        Assert.Equal(SecurityPlace.All.Count, presenter.View().Security.Count);
        Assert.False(presenter.View().PlainSurface);
    }

    [Fact]
    public void A_port_counts_only_when_it_is_one()
    {
        presenter.TypePort("87x");
        presenter.ApplyPort();
        Assert.Null(settings.Current.Port);
        Assert.Equal("87x", presenter.View().PortText);
        Assert.Contains("1 to 65535", presenter.View().PortNote);

        bridge.Now = new BridgeStatus { Running = true, Port = 8700 };
        presenter.TypePort("8750");
        presenter.ApplyPort();
        Assert.Equal(8750, settings.Current.Port);
        Assert.Contains("never changes", presenter.View().PortNote);

        presenter.TypePort("");
        presenter.ApplyPort();
        Assert.Null(settings.Current.Port);
    }

    [Fact]
    public void Menu_items_count_once_they_are_applied()
    {
        presenter.TypeMenuItems("Tools/*\n\n  Build/*  ", "File/Exit");
        Assert.True(presenter.View().HasMenuItemChanges);
        Assert.Empty(settings.Current.AllowedMenuItems);

        presenter.ApplyMenuItems();

        Assert.Equal(["Tools/*", "Build/*"], settings.Current.AllowedMenuItems);
        Assert.Equal(["File/Exit"], settings.Current.DeniedMenuItems);
        Assert.False(presenter.View().HasMenuItemChanges);
        Assert.NotNull(settings.Current.Security().MenuItems.Refusal("Edit/Play"));
        Assert.Null(settings.Current.Security().MenuItems.Refusal("Tools/Bake"));
    }

    [Fact]
    public void Says_what_an_open_plain_surface_means_and_keeps_the_choice()
    {
        Assert.Equal(
            "Every program and every user of this machine that reaches the port may run tools, without the token.",
            presenter.View().PlainSurfaceConsequence);
        presenter.SetPlainSurface(true);
        Assert.True(presenter.View().PlainSurface);
        Assert.True(settings.Current.PlainSurface);
        presenter.SetAutoStart(false);
        Assert.True(settings.Current.PlainSurface);
    }

    [Fact]
    public void Build_folders_count_once_they_are_applied()
    {
        presenter.TypeBuildFolders("/mnt/builds\n\n  ../out  ");
        Assert.True(presenter.View().HasBuildFolderChanges);
        Assert.Empty(settings.Current.BuildFolders);

        presenter.ApplyBuildFolders();

        Assert.Equal(["/mnt/builds", "../out"], settings.Current.BuildFolders);
        Assert.Equal(["/mnt/builds", "../out"], settings.Current.Security().BuildFolders.Folders);
        Assert.Equal("/mnt/builds\n../out", presenter.View().BuildFolders);
        presenter.TypeBuildFolders("else");
        presenter.RevertBuildFolders();
        Assert.False(presenter.View().HasBuildFolderChanges);
    }

    [Fact]
    public void Labels_count_only_when_all_are_labels()
    {
        bridge.Now = new BridgeStatus { Labels = ["mac", "platform=android"] };
        Assert.Equal(("", "mac, platform=android"), (presenter.View().LabelsText, presenter.View().LabelsInEffect));

        presenter.TypeLabels("gpu, two words");
        presenter.ApplyLabels();
        Assert.Empty(settings.Current.Labels);
        Assert.Equal("gpu, two words", presenter.View().LabelsText);
        Assert.StartsWith("\"two words\" is no label", presenter.View().LabelsNote);

        presenter.TypeLabels(" gpu,,licence=Pro ");
        presenter.ApplyLabels();
        Assert.Equal(["gpu", "licence=Pro"], settings.Current.Labels);
        Assert.Equal(("gpu, licence=Pro", ""), (presenter.View().LabelsText, presenter.View().LabelsNote));

        presenter.TypeLabels("");
        presenter.ApplyLabels();
        Assert.Empty(settings.Current.Labels);
    }

    [Fact]
    public void A_full_disk_is_said_and_changes_nothing()
    {
        settings.IsDiskFull = true;
        presenter.SetSecurity(SecuritySetting.CodeExecution, true);
        Assert.Contains("no space left", presenter.View().Notice);
        Assert.False(settings.Current.IsOn(SecuritySetting.CodeExecution));
    }

    [Fact]
    public void Installing_says_what_came_of_it()
    {
        Assert.Equal((true, ""), (presenter.View().CanInstall, presenter.View().InstallNote));
        presenter.Install(McpClient.All[0]);
        Assert.Contains("The configuration for Claude Code is on the clipboard", presenter.View().InstallNote);
        Assert.Single(copied);
        presenter.Uninstall(McpClient.All[0]);
        Assert.Contains("Remove the server \"unity\" from Claude Code's file by hand", presenter.View().InstallNote);
    }

    [Fact]
    public void The_log_shows_the_newest_first_and_what_is_looked_for()
    {
        log.Add(CommunicationKind.Request, "Cursor", "compile", new JObject());
        log.Add(CommunicationKind.Error, "Codex", "run-tests", new JObject { ["message"] = "off" });
        Assert.Equal([2, 1], presenter.View().Log.Select(row => row.Number));
        Assert.True(presenter.View().Log[0].IsError);

        presenter.FilterLog("CURSOR");
        Assert.Contains("compile (Cursor)", Assert.Single(presenter.View().Log).Line);

        presenter.ClearLog();
        Assert.Empty(presenter.View().Log);
    }

    [Fact]
    public void Hands_clicks_on()
    {
        presenter.Start();
        presenter.Stop();
        presenter.HandOver();
        Assert.Equal(["start", "stop", "hand over"], bridge.Asked);
    }
}
