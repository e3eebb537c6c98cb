#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Net.Sockets;
using System.Threading;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

/// <summary>Connections that have not proven to hold the token: they keep nobody out, and do not stay.</summary>
public sealed class StrangersTests : IDisposable
{
    private readonly WireHandler handler = new();
    private readonly WireLog log = new();
    private readonly WireLimits limits = new();
    private readonly McpBridgeServer server;

    public StrangersTests()
    {
        server = new McpBridgeServer(handler, limits, log);
        server.Listen(0);
    }

    public void Dispose() => Assert.True(server.Stop(5000));

    private WireClient Connect() => new(server.Port);

    /// <summary>A connection that is no stranger any more.</summary>
    private WireClient Admitted()
    {
        var client = Connect();
        client.Request(0, "admit", null);
        Assert.NotNull(client.Next()!["result"]);
        return client;
    }

    [Fact]
    public void A_broadcast_reaches_those_who_are_admitted_alone()
    {
        using var proven = Admitted();
        using var stranger = Connect();
        stranger.Request(1, "echo", 1);
        Assert.Equal(1, (int)stranger.Next()!["result"]!);
        server.Broadcast("note", new JObject());
        Assert.Equal("note", (string)proven.Next()!["method"]!);
        stranger.Request(2, "echo", 2);
        Assert.Equal(2, (int)stranger.Next()!["result"]!);
    }

    [Fact]
    public void One_connection_more_than_allowed_is_told_so_where_all_are_proven()
    {
        limits.Connections = 3;
        var open = Enumerable.Range(0, 3).Select(_ => Admitted()).ToList();
        using (var fourth = Connect())
        {
            Assert.Contains("3 connections", (string)fourth.Next()!["error"]!["message"]!);
            Assert.Null(fourth.Next());
        }
        open[0].Dispose();
        Wait.Until(() => server.ConnectionCount == 2, "room");
        using var again = Connect();
        again.Request(1, "echo", 1);
        Assert.Equal(1, (int)again.Next()!["result"]!);
        open.ForEach(client => client.Dispose());
    }

    [Fact]
    public void The_oldest_stranger_gives_way_to_the_next_connection_and_a_proven_one_never_does()
    {
        limits.Connections = 3;
        using var proven = Admitted();
        using var oldest = Connect();
        oldest.Request(1, "echo", 1);
        Assert.NotNull(oldest.Next());
        using var younger = Connect();
        Wait.Until(() => server.ConnectionCount == 3, "three connections");

        using var next = Connect();
        next.Request(1, "echo", "there is room");
        Assert.Equal("there is room", (string)next.Next()!["result"]!);

        Assert.Null(oldest.Next());
        foreach (var staying in new[] { proven, younger })
        {
            staying.Request(9, "echo", "still here");
            Assert.Equal("still here", (string)staying.Next()!["result"]!);
        }
    }

    [Fact]
    public void However_many_strangers_come_the_proven_one_stays_and_the_next_is_heard()
    {
        limits.Connections = 4;
        using var proven = Admitted();
        var strangers = new List<WireClient>();
        for (var round = 0; round < 200; round++)
        {
            strangers.Add(Connect());
            Assert.InRange(server.ConnectionCount, 1, 2 * limits.Connections);
        }
        using var next = Connect();
        next.Request(1, "echo", "heard");
        Assert.Equal("heard", (string)next.Next()!["result"]!);
        proven.Request(9, "echo", "still here");
        Assert.Equal("still here", (string)proven.Next()!["result"]!);
        Wait.Until(() => server.ConnectionCount <= limits.Connections, "the strangers' end");
        strangers.ForEach(client => client.Dispose());
    }

    [Fact]
    public void Who_was_told_why_it_is_closed_keeps_nobody_out()
    {
        limits.Connections = 2;
        limits.LingerMs = 60_000;
        using var closing = Connect();
        closing.Request(1, "bye");
        Assert.NotNull(closing.Next());
        using var stranger = Connect();
        stranger.Request(1, "echo", 1);
        Assert.NotNull(stranger.Next());
        using var next = Connect();
        next.Request(1, "echo", 2);
        Assert.Equal(2, (int)next.Next()!["result"]!);
        stranger.Request(2, "echo", "still here");
        Assert.Equal("still here", (string)stranger.Next()!["result"]!);
    }

    [Fact]
    public void A_stranger_is_cut_off_whatever_it_does_and_a_proven_one_is_not()
    {
        limits.StrangerMs = 300;
        using var proven = Admitted();
        using var idle = Connect();
        using var halfway = Connect();
        halfway.Raw("Content-Length: 100\r\n\r\n{");
        using var busy = Connect();
        var rounds = 0;
        while (true)
        {
            try
            {
                busy.Request(rounds, "echo", rounds);
                if (busy.Next() == null) break;
            }
            catch (SocketException)
            {
                break;
            }
            Assert.True(rounds++ < 1_000_000, "a busy stranger was never cut off");
        }
        Assert.True(rounds > 0);
        Assert.Null(idle.Next());
        Assert.Null(halfway.Next());
        proven.Request(9, "echo", "still here");
        Assert.Equal("still here", (string)proven.Next()!["result"]!);
        Wait.Until(() => server.ConnectionCount == 1, "the strangers' end");
    }

    [Fact]
    public void Strangers_stay_while_they_are_welcome()
    {
        var welcome = true;
        var guests = new McpBridgeServer(handler, new WireLimits { StrangerMs = 1 }, log, () => Volatile.Read(ref welcome));
        guests.Listen(0);
        using var stranger = new WireClient(guests.Port);
        var since = Stopwatch.StartNew();
        while (since.ElapsedMilliseconds < 300)
        {
            stranger.Request(1, "echo", 1);
            Assert.NotNull(stranger.Next());
        }
        Volatile.Write(ref welcome, false);
        Assert.Null(stranger.Next());
        Assert.True(guests.Stop(5000));
    }
}
