#nullable enable
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using JobBroker.Bridge.Tests.Tools.InMemory;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>A program that takes the bridge's port while the Editor reloads its domain.</summary>
public sealed class PortTests
{
    private const int Patience = 10_000;

    private readonly FixedClock clock = new();

    [Fact]
    public void A_port_that_a_stranger_keeps_is_given_up_for_another_after_10_s()
    {
        using var bridge = new RunningBridge(clock: clock);
        using var stranger = TakenDuringAReload(bridge, out var before);

        Tick(bridge, Patience - 1);
        Assert.False(bridge.Controller.IsRunning);
        Tick(bridge, 1000);

        Assert.True(bridge.Controller.IsRunning, bridge.Controller.Status().LastError);
        Assert.NotEqual(before, bridge.Port);
        Assert.Equal(bridge.Port, (int)JObject.Parse(File.ReadAllText(bridge.EndpointFile))["port"]!);
        Assert.Contains(bridge.Log.Lines, line => line.StartsWith($"Port {before} was taken", System.StringComparison.Ordinal));
        bridge.Owner().Dispose();
    }

    [Fact]
    public void A_port_that_is_free_again_in_time_is_kept()
    {
        using var bridge = new RunningBridge(clock: clock);
        var stranger = TakenDuringAReload(bridge, out var before);
        Tick(bridge, Patience - 1);
        stranger.Dispose();
        Tick(bridge, 1000);
        Assert.Equal((true, before), (bridge.Controller.IsRunning, bridge.Port));
    }

    [Fact]
    public void A_port_that_the_user_has_set_is_never_given_up()
    {
        using var free = new TcpListener(IPAddress.Loopback, 0);
        free.Start();
        var port = ((IPEndPoint)free.LocalEndpoint).Port;
        free.Stop();
        using var bridge = new RunningBridge(options => options.Port = port, clock);
        using var stranger = TakenDuringAReload(bridge, out _);
        Tick(bridge, 10 * Patience);
        Tick(bridge, 1000);
        Assert.False(bridge.Controller.IsRunning);
        Assert.Contains($"Port {port} is taken", bridge.Controller.Status().LastError);
    }

    private static TcpListener TakenDuringAReload(RunningBridge bridge, out int port)
    {
        port = bridge.Port;
        Assert.True(bridge.Controller.BeforeReload());
        var stranger = new TcpListener(IPAddress.Loopback, port);
        stranger.Start();
        bridge.Reload(listens: false);
        return stranger;
    }

    private void Tick(RunningBridge bridge, int milliseconds)
    {
        clock.ElapsedMs += milliseconds;
        bridge.Controller.Pump();
    }
}
