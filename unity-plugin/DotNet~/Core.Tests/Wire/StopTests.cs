#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using JobBroker.Bridge.Tests.Framing;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

/// <summary>A thread that stays hangs the Editor's domain reload.</summary>
[Collection(Alone.Name)]
public sealed class StopTests
{
    /// <summary>How long what must end may take on a busy machine, ms.</summary>
    private const int Patience = 10_000;

    private readonly WireHandler handler = new();
    private readonly WireLog log = new();

    [Fact]
    public void Stopping_ends_every_thread_in_time_whatever_the_peers_do()
    {
        var before = ThreadsOfTheBridge.Ids();
        var server = new McpBridgeServer(handler, new WireLimits { FrameBytes = 1024 * 1024 }, log, () => true);
        var port = server.Listen(0);
        var beats = 0;
        var heartbeat = new HeartbeatThread(10, () => server.Broadcast("beat", new JObject { ["n"] = ++beats }), log);
        using var idle = new WireClient(port);
        using var midHeader = new WireClient(port);
        midHeader.Raw("Content-Len");
        using var midFrame = new WireClient(port);
        midFrame.Raw("Content-Length: 1000\r\n\r\n{");
        using var midSkip = new WireClient(port);
        midSkip.Raw("Content-Length: 100000000\r\n\r\n{");
        using var waiting = new WireClient(port);
        waiting.Request(1, "hold", new JObject { ["key"] = "w" });
        using var deaf = new WireClient(port, receiveBuffer: 4096);
        deaf.Request(1, "text", new JObject { ["length"] = 10_000_000 });
        using var flooding = new WireClient(port);
        var flood = new Thread(() => Flood(flooding)) { IsBackground = true };
        flood.Start();
        Wait.Until(() => server.ConnectionCount == 7, "seven connections");
        Wait.Until(() => handler.Handled.Count > 100 && handler.Held.Count == 1, "all peers at work");
        Assert.True(ThreadsOfTheBridge.Ids().Except(before).Count() >= 16, "the bridge's threads are seen");

        Assert.True(heartbeat.Stop(Patience));
        Assert.True(server.Stop(Patience));
        ThreadsOfTheBridge.AssertOnly(before);
        Assert.Equal(0, server.ConnectionCount);
        Assert.Equal(7, handler.ClosedPeers.Distinct().Count());
        Assert.Equal(7, handler.ClosedPeers.Count);
        handler.Held["w"](Answer.Result("too late"));
        Assert.True(server.Stop());
        Assert.True(flood.Join(60_000));
    }

    [Fact]
    public void The_same_port_is_listened_on_again_at_once_twenty_times()
    {
        var before = ThreadsOfTheBridge.Ids();
        var port = FreePort();
        for (var round = 0; round < 20; round++)
        {
            var server = new McpBridgeServer(handler, 1024 * 1024, log);
            Assert.Equal(port, server.Listen(port));
            using var client = new WireClient(port);
            client.Request(round, "echo", round);
            Assert.Equal(round, (int)client.Next()!["result"]!);
            Assert.True(server.Stop(Patience));
            Assert.Null(client.Next());
        }
        var again = new McpBridgeServer(handler, 1024 * 1024, log);
        for (var round = 0; round < 20; round++)
        {
            again.Listen(port);
            Assert.True(again.Stop(Patience));
        }
        ThreadsOfTheBridge.AssertOnly(before);
    }

    [Fact]
    public void What_was_said_before_stopping_is_still_delivered()
    {
        for (var round = 0; round < 20; round++)
        {
            var server = new McpBridgeServer(handler, 1024 * 1024, log);
            using var client = new WireClient(server.Listen(0));
            client.Request(1, "admit");
            Assert.NotNull(client.Next());
            server.Broadcast("notifications/server/shutdown", new JObject { ["reason"] = "editor_quit" });
            Assert.True(server.Stop(Patience));
            Assert.Equal("editor_quit", (string)client.Next()!["params"]!["reason"]!);
            Assert.Null(client.Next());
        }
    }

    [Fact]
    public void A_handler_that_blocks_makes_stopping_say_false_and_the_port_is_free_all_the_same()
    {
        using var release = new ManualResetEventSlim();
        var blocking = new BlockingHandler(release);
        var server = new McpBridgeServer(blocking, 1024 * 1024, log);
        using var client = new WireClient(server.Listen(0));
        client.Request(1, "echo");
        Wait.Until(() => blocking.Entered, "the handler");
        Assert.False(server.Stop(300));
        Assert.Null(client.Next());
        var next = new McpBridgeServer(handler, 1024 * 1024, log);
        Assert.Equal(server.Port, next.Listen(server.Port));
        release.Set();
        Wait.Until(() => server.ConnectionCount == 0, "the end of the blocked thread");
        Assert.True(next.Stop(Patience));
    }

    [Fact]
    public void A_heartbeat_keeps_its_rate_through_exceptions_and_ends_when_asked()
    {
        var before = ThreadsOfTheBridge.Ids();
        var clock = Stopwatch.StartNew();
        var beats = new List<long>();
        using var enough = new ManualResetEventSlim();
        var heartbeat = new HeartbeatThread(20, () =>
        {
            beats.Add(clock.ElapsedMilliseconds);
            if (beats.Count == 50) enough.Set();
            // Work of a beat must not add to the interval.
            Thread.Sleep(15);
            throw new InvalidOperationException("broken beat");
        }, log);
        Assert.True(enough.Wait(20_000));
        Assert.True(heartbeat.Stop(Patience));
        ThreadsOfTheBridge.AssertOnly(before);
        Assert.True(beats[49] >= 49 * 20);
        // On a busy machine some are late, but never all.
        Assert.Contains(beats.Zip(beats.Skip(1), (one, next) => next - one), gap => gap < 20 + 10);
        Assert.Single(log.Lines);
        var count = beats.Count;
        Assert.True(heartbeat.Stop(Patience));
        Assert.Equal(count, beats.Count);
    }

    private static void Flood(WireClient client)
    {
        try
        {
            var drain = new Thread(() =>
            {
                while (client.Next() != null)
                {
                }
            });
            drain.Start();
            for (var id = 0; ; id++) client.Request(id, "echo", new string('x', 1000));
        }
        catch (System.Net.Sockets.SocketException)
        {
            // The end.
        }
    }

    /// <summary>A port that was free a moment ago.</summary>
    private int FreePort()
    {
        var server = new McpBridgeServer(handler, 1024, log);
        var port = server.Listen(0);
        Assert.True(server.Stop(Patience));
        return port;
    }

    private sealed class BlockingHandler(ManualResetEventSlim release) : IRequestHandler
    {
        public volatile bool Entered;

        public void Handle(IPeer peer, string method, JToken? parameters, Action<Answer> reply)
        {
            Entered = true;
            release.Wait();
            reply(Answer.Result("late"));
        }

        public void Notified(IPeer peer, string method, JToken? parameters)
        {
        }

        public void Closed(IPeer peer)
        {
        }
    }
}
