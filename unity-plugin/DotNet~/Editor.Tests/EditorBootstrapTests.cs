#nullable enable
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>
/// The bridge's life in an Editor, over real domain loads, with a real port, ledger and endpoint file.
/// </summary>
public sealed class EditorBootstrapTests : IDisposable
{
    private static readonly string[] Variables = ["HOME", "UNITY_BROKER_EDITORS_DIR", "UNITY_JOB_BROKER", "UNITY_TCP_PORT"];

    private readonly string folder = Directory.CreateTempSubdirectory("jb-editor-").FullName;
    private readonly string?[] before = Variables.Select(Environment.GetEnvironmentVariable).ToArray();
    private ScriptDomain? last;

    public EditorBootstrapTests()
    {
        foreach (var name in Variables) Environment.SetEnvironmentVariable(name, null);
        Environment.SetEnvironmentVariable("HOME", Made("home"));
        Environment.SetEnvironmentVariable("UNITY_BROKER_EDITORS_DIR", Made("editors"));
        Made("Project/Assets");
    }

    private string[] Endpoints => Directory.GetFiles(Path.Combine(folder, "editors"));

    public void Dispose()
    {
        if (last?.Status != null) last.Raise("Quitting");
        for (var index = 0; index < Variables.Length; index++) Environment.SetEnvironmentVariable(Variables[index], before[index]);
        Directory.Delete(folder, true);
    }

    [Theory]
    [InlineData("IsImportWorker")]
    [InlineData("IsSecondaryProcess")]
    public void A_helper_of_the_Editor_touches_nothing(string kind)
    {
        var domain = Domain();
        domain.Set(kind, true);
        domain.Load();
        domain.Raise("AfterReload");

        Assert.Null(domain.Status);
        Assert.Equal(0, domain.UpdateListeners);
        Assert.Equal(0, domain.BeforeReloadListeners);
        Assert.Empty(domain.Session);
        Assert.Empty(Endpoints);
    }

    [Fact]
    public void A_bridge_that_cannot_be_put_together_says_so_in_the_window()
    {
        var domain = Domain();
        domain.Set("DataPath", null);
        domain.Load();
        domain.Raise("AfterReload");
        Assert.Null(domain.Status);
        Assert.Contains(domain.Draw(), line => line.StartsWith("Error: The bridge cannot run in this Editor. ", StringComparison.Ordinal));
        Assert.Single(domain.Console, line => line.Contains("cannot run"));
        domain.Raise("BeforeReload");
    }

    [Fact]
    public void A_part_that_fails_with_every_tick_is_told_once_and_stops_no_other()
    {
        var domain = Domain();
        domain.Load();
        domain.Set("FocusFails", true);
        for (var tick = 0; tick < 3; tick++) domain.Raise("Update");
        Assert.Single(domain.Console, line => line.Contains("(facts) has failed"));
        Assert.True(domain.IsListening);
        domain.Raise("BeforeReload");
        Assert.Empty(BridgeThreads());
    }

    [Fact]
    public void Starts_once_however_often_it_is_asked()
    {
        var domain = Domain();
        domain.Load();
        var port = domain.Port;
        domain.Raise("AfterReload");
        domain.Raise("AfterReload");

        Assert.True(domain.IsListening, string.Join("\n", domain.Console));
        Assert.Equal(port, domain.Port);
        Assert.Equal(1, domain.UpdateListeners);
        Assert.Equal(1, domain.BeforeReloadListeners);
        Assert.Single(Endpoints);
    }

    [Fact]
    public void Keeps_the_Editor_ticking_from_its_start_and_lets_go_with_its_script_domain()
    {
        var domain = Domain();
        domain.Load();
        var before = domain.Ticks;
        Assert.True(SpinWait.SpinUntil(() => domain.Ticks >= before + 3, 10_000), "no Update was raised, and it is woken all the same");
        domain.Raise("BeforeReload");
        Assert.Empty(BridgeThreads());
    }

    [Fact]
    public void Stays_off_in_batch_mode_until_it_is_asked_for()
    {
        var domain = Domain();
        domain.Set("IsBatchMode", true);
        domain.Load();
        Assert.Null(domain.Status);
        Assert.Equal(0, domain.UpdateListeners);
        Assert.Empty(Endpoints);

        Environment.SetEnvironmentVariable("UNITY_JOB_BROKER", "1");
        var asked = Domain();
        asked.Set("IsBatchMode", true);
        asked.Load();
        Assert.True(asked.IsListening);
    }

    [Fact]
    public void A_reload_leaves_no_thread_behind_and_the_next_domain_listens_on_the_same_port()
    {
        // Away from 8700 and the next ones, which any Editor that starts meanwhile would take.
        var port = FreePort();
        Environment.SetEnvironmentVariable("UNITY_TCP_PORT", $"{port}");
        var first = Domain();
        first.Load();
        Assert.Equal(port, first.Port);
        Assert.NotEmpty(BridgeThreads());

        first.Raise("BeforeReload");

        Assert.Empty(BridgeThreads());
        Assert.Equal(0, first.UpdateListeners);
        first.Raise("AfterReload");
        Assert.Null(first.Status);

        Environment.SetEnvironmentVariable("UNITY_TCP_PORT", null);
        var second = Domain(first);
        second.Load();
        Assert.True(second.IsListening, string.Join("\n", second.Console));
        Assert.Equal(port, second.Port);
    }

    [Fact]
    public void A_stop_by_hand_outlives_the_reload()
    {
        var first = Domain();
        first.Load();
        var bridge = first.Status;
        Assert.NotNull(bridge);
        first.Session["JobBroker.Wanted"] = "=0";
        first.Raise("BeforeReload");

        var second = Domain(first);
        second.Load();
        Assert.NotNull(second.Status);
        Assert.False(second.IsListening);
    }

    [Fact]
    public void Quitting_takes_the_endpoint_file_along()
    {
        var domain = Domain();
        domain.Load();
        Assert.Single(Endpoints);
        domain.Raise("Quitting");
        Assert.Empty(Endpoints);
        Assert.Empty(BridgeThreads());
    }

    [Fact]
    public void A_port_that_is_none_is_said_in_the_console()
    {
        Environment.SetEnvironmentVariable("UNITY_TCP_PORT", "eighty");
        var domain = Domain();
        domain.Load();
        Assert.Contains(domain.Console, line => line.StartsWith("warning: ", StringComparison.Ordinal) && line.Contains("eighty"));
    }

    [Fact]
    public void The_window_shows_the_brokers_clients_without_markup()
    {
        var domain = Domain();
        domain.Load();
        domain.Raise("Update");
        var client = new JObject
        {
            ["name"] = "<b>cursor</b>", ["version"] = "2.0", ["transport"] = "stdio", ["runs"] = "<i>compile", ["waits"] = 2,
        };
        domain.Report(new JObject { ["clients"] = new JArray(client), ["total"] = 3 });

        var drawn = domain.Draw();

        // The stub marks what it draws with a style that reads markup.
        Assert.Contains("MCP client: <b>cursor</b> 2.0, over stdio: runs <i>compile, waits for 2", drawn);
        Assert.Contains("MCP client: and 2 more", drawn);
    }

    [Fact]
    public void Labels_that_are_typed_into_the_window_are_in_effect_with_the_next_tick()
    {
        var domain = Domain();
        domain.Load();
        domain.Raise("Update");
        Assert.Contains("In effect: platform=standalonelinux64", domain.Draw());

        domain.Type("Labels", "gpu card");
        domain.Raise("Update");
        Assert.Contains("In effect: platform=standalonelinux64", domain.Draw());

        domain.Type("Labels", "GPU, android");
        domain.Raise("Update");
        Assert.Contains("In effect: gpu, android, platform=standalonelinux64", domain.Draw());
    }

    [Fact]
    public void The_window_shows_the_bridge()
    {
        var worker = Domain();
        worker.Set("IsImportWorker", true);
        Assert.Contains(worker.Draw(), line => line.Contains("does not run in this process"));

        var domain = Domain();
        domain.Load();
        domain.Raise("Update");

        var drawn = domain.Draw();

        Assert.Contains($"Listening on 127.0.0.1:{domain.Port}", drawn);
        Assert.Contains("Allow Code Execution", drawn.Select(line => line.Trim('[', ']')));
        Assert.Contains("Cursor", drawn);
        Assert.Contains("[Install]", drawn);
        Assert.Contains(drawn, line => line.Contains("Plain calls without the token"));
        Assert.Contains(
            "None: Every program and every user of this machine that reaches the port may run tools, without the token.",
            drawn);
        Assert.Contains("[Stop]", drawn);
    }

    [Fact]
    public void The_windows_button_runs_the_command_line_of_this_machine()
    {
        var broker = Path.Combine(Made("bin"), "unity-broker");
        File.WriteAllText(broker, "echo \"asked: $*\"\n");
        File.WriteAllText(
            Path.Combine(Made("home/.unity-job-broker"), "launch.json"),
            new JObject { ["command"] = "sh", ["args"] = new JArray(broker, "mcp") }.ToString());
        var domain = Domain();
        domain.Load();

        domain.Click("Install");

        string? Said() => domain.Draw().SingleOrDefault(line => line.StartsWith("Info: asked: ", StringComparison.Ordinal));
        Assert.True(SpinWait.SpinUntil(() => Said() != null, 10_000), string.Join("\n", domain.Draw()));
        Assert.StartsWith("Info: asked: install ", Said());
        Assert.Equal("", domain.Clipboard);
    }

    [Fact]
    public void The_window_lists_the_tools_with_what_is_on()
    {
        var domain = Domain();
        domain.Load();
        var drawn = domain.Click(domain.Draw().Single(line => line.StartsWith("[Tools (", StringComparison.Ordinal)).Trim('[', ']'));
        Assert.Contains("[x ping]", drawn);
        Assert.Contains("[run-tests]", drawn);
        Assert.Contains("safe to repeat, minutes, needs \"Enable Tests Execution\"", drawn);
        Assert.Contains("[Development mode]", drawn);
    }

    private static int FreePort()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var port = ((IPEndPoint)listener.LocalEndpoint).Port;
        listener.Stop();
        return port;
    }

    private static string[] BridgeThreads() => Directory.GetDirectories("/proc/self/task")
        .Select(NameOf)
        .Where(name => name.StartsWith("jb-", StringComparison.Ordinal))
        .ToArray();

    private static string NameOf(string thread)
    {
        try
        {
            return File.ReadAllText(Path.Combine(thread, "comm")).Trim();
        }
        catch (IOException)
        {
            // It ended while we looked.
            return "";
        }
    }

    private ScriptDomain Domain(ScriptDomain? before = null) => last = new ScriptDomain(Path.Combine(folder, "Project"), before);

    private string Made(string name) => Directory.CreateDirectory(Path.Combine(folder, name)).FullName;
}
