#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Push;
using JobBroker.Bridge.Tests.Framing;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Push;

[Collection(Alone.Name)]
public sealed class UnityPushClientTests : IDisposable
{
    private readonly WireLog log = new();
    private readonly HashSet<string> before = ThreadsOfTheBridge.Ids();
    private readonly UnityPushClient client;

    public UnityPushClientTests() => client = new UnityPushClient(new FixedClock(), log);

    public void Dispose()
    {
        Assert.True(client.Stop(10_000));
        ThreadsOfTheBridge.AssertOnly(before);
    }

    [Fact]
    public void All_six_types_arrive_in_their_order_as_lines()
    {
        using var worker = new PushListener();
        Assert.Null(client.Endpoint);
        Assert.True(client.ConnectTo($"127.0.0.1:{worker.Port}"));
        Assert.Equal($"127.0.0.1:{worker.Port}", client.Endpoint);
        client.Push(PushTypes.DomainReload, new JObject { ["generation"] = 3, ["text"] = "日\n🎮" });
        client.Push(PushTypes.DomainReloadRecovered);
        client.Push(PushTypes.ToolsChanged);
        client.Push(PushTypes.UnityShutdown);
        client.Close(announceDisconnect: true);
        Assert.Null(client.Endpoint);
        Wait.Until(() => Volatile.Read(ref worker.Ended) == 1, "the end of the connection");
        Assert.Equal(
            [
                "1 CONNECTION_ESTABLISHED", "1 DOMAIN_RELOAD", "1 DOMAIN_RELOAD_RECOVERED", "1 TOOLS_CHANGED",
                "1 UNITY_SHUTDOWN", "1 USER_DISCONNECT",
            ],
            worker.Received);
        var reload = worker.Lines.ElementAt(1);
        Assert.Equal("2023-11-14T22:13:20.123Z", (string)reload["timestamp"]!);
        Assert.Equal("{\"generation\":3,\"text\":\"日\\n🎮\"}", reload["payload"]!.ToString(Formatting.None));
        Assert.Equal("{}", worker.Lines.ElementAt(2)["payload"]!.ToString());
        Assert.Throws<ArgumentException>(() => client.Push("ANYTHING"));
        client.Push(PushTypes.ToolsChanged);
    }

    [Fact]
    public void After_a_drop_the_next_push_connects_again()
    {
        using var worker = new PushListener();
        client.ConnectTo($"tcp://localhost:{worker.Port}");
        client.Push(PushTypes.DomainReload);
        client.Drop();
        Wait.Until(() => Volatile.Read(ref worker.Ended) == 1, "the end of the connection");
        client.Push(PushTypes.DomainReloadRecovered);
        Wait.Until(() => worker.Received.Count == 4, "four lines");
        Assert.Equal(
            ["1 CONNECTION_ESTABLISHED", "1 DOMAIN_RELOAD", "2 CONNECTION_ESTABLISHED", "2 DOMAIN_RELOAD_RECOVERED"],
            worker.Received);
    }

    [Fact]
    public void A_worker_that_comes_back_is_found_by_the_next_push()
    {
        var first = new PushListener();
        client.ConnectTo(first.Port.ToString());
        Wait.Until(() => first.Received.Count == 1, "the greeting");
        first.Dispose();
        client.Push(PushTypes.ToolsChanged);
        client.Push(PushTypes.ToolsChanged);
        using var second = new PushListener(first.Port);
        Wait.Until(
            () =>
            {
                client.Push(PushTypes.ToolsChanged);
                return second.Received.Count >= 2;
            },
            "a push to the worker that came back");
        Assert.Equal("1 CONNECTION_ESTABLISHED", second.Received.First());
    }

    [Fact]
    public void A_connection_that_the_worker_ended_loses_no_later_push()
    {
        using var worker = new PushListener();
        client.ConnectTo($"127.0.0.1:{worker.Port}");
        for (var round = 1; round <= 20; round++)
        {
            Wait.Until(() => worker.Received.Contains(round + " CONNECTION_ESTABLISHED"), "connection " + round);
            worker.CutConnections();
            client.Push(PushTypes.ToolsChanged, new JObject { ["round"] = round });
            Wait.Until(() => worker.Received.Contains(round + 1 + " TOOLS_CHANGED"), "the push after cut " + round);
        }
    }

    [Fact]
    public void Another_endpoint_takes_the_place_of_the_first()
    {
        using var one = new PushListener();
        using var two = new PushListener();
        client.ConnectTo($"127.0.0.1:{one.Port}");
        client.ConnectTo($"127.0.0.1:{two.Port}/");
        client.Push(PushTypes.ToolsChanged);
        Wait.Until(() => two.Received.Count == 2, "two lines");
        Wait.Until(() => Volatile.Read(ref one.Ended) == 1, "the end of the first connection");
        Assert.Equal(["1 CONNECTION_ESTABLISHED"], one.Received);
    }

    [Fact]
    public void The_key_is_the_first_word_of_each_connection_and_of_no_other_line()
    {
        using var worker = new PushListener();
        client.ConnectTo($"127.0.0.1:{worker.Port}", "hush-hush");
        client.Push(PushTypes.ToolsChanged);
        client.Drop();
        client.Push(PushTypes.ToolsChanged);
        Wait.Until(() => worker.Lines.Count == 4, "four lines");
        Assert.Equal(
            ["hush-hush", null, "hush-hush", null], worker.Lines.Select(line => (string?)line["payload"]!["key"]));
        Assert.Empty(log.Lines);
    }

    [Fact]
    public void Another_key_needs_another_connection()
    {
        using var worker = new PushListener();
        client.ConnectTo($"127.0.0.1:{worker.Port}", "one");
        client.ConnectTo($"127.0.0.1:{worker.Port}", "two");
        client.ConnectTo($"127.0.0.1:{worker.Port}");
        Wait.Until(() => worker.Lines.Count == 3, "three lines");
        // Each comes on a connection of its own: which is read first, nobody knows.
        Assert.Equal([null, "one", "two"], worker.Lines.Select(line => (string?)line["payload"]!["key"]).Order());
    }

    [Fact]
    public void A_worker_that_does_not_read_blocks_nobody()
    {
        using var deaf = new PushListener(reads: false);
        client.ConnectTo($"127.0.0.1:{deaf.Port}");
        var payload = new JObject { ["text"] = new string('x', 30_000) };
        var clock = Stopwatch.StartNew();
        for (var round = 0; round < 3000; round++) client.Push(PushTypes.ToolsChanged, payload);
        // 90 MB; the system takes a few of them at most.
        Assert.InRange(clock.ElapsedMilliseconds, 0, 60_000);
        Assert.True(client.Stop(10_000));
    }

    [Fact]
    public void What_waits_is_bounded()
    {
        using var deaf = new PushListener(reads: false);
        client.ConnectTo($"127.0.0.1:{deaf.Port}");
        var memory = GC.GetTotalMemory(true);
        var payload = new JObject { ["text"] = new string('x', 30_000) };
        for (var round = 0; round < 3000; round++) client.Push(PushTypes.ToolsChanged, payload);
        Assert.InRange(GC.GetTotalMemory(true) - memory, long.MinValue, 256 * 70_000);
    }

    [Fact]
    public void A_payload_that_is_too_long_is_left_out()
    {
        using var worker = new PushListener();
        client.ConnectTo($"127.0.0.1:{worker.Port}");
        client.Push(PushTypes.ToolsChanged, new JObject { ["text"] = new string('x', 40_000) });
        Wait.Until(() => worker.Received.Count == 2, "two lines");
        Assert.Equal("{}", worker.Lines.Last()["payload"]!.ToString());
    }

    [Theory]
    [InlineData("")]
    [InlineData("nonsense")]
    [InlineData("127.0.0.1")]
    [InlineData("127.0.0.1:0")]
    [InlineData("127.0.0.1:65536")]
    [InlineData("192.168.0.1:8000")]
    [InlineData("example.com:80")]
    [InlineData("localhost.example.com:80")]
    [InlineData("tcp://10.0.0.1:80")]
    [InlineData("127.0.0.1:80/path")]
    [InlineData("127.0.0.1:80\n")]
    [InlineData("evil@127.0.0.1:80")]
    [InlineData("0.0.0.0:80")]
    [InlineData("[fe80::1]:80")]
    public void Only_this_machine_is_spoken_to(string endpoint)
    {
        Assert.False(client.ConnectTo(endpoint));
        Assert.Null(client.Endpoint);
        Assert.Single(log.Lines);
    }

    [Theory]
    [InlineData("1")]
    [InlineData("localhost:1")]
    [InlineData("LOCALHOST:1")]
    [InlineData("tcp://127.0.0.1:1")]
    [InlineData("127.8.9.1:1")]
    [InlineData("[::1]:1")]
    public void This_machine_has_several_names(string endpoint)
    {
        Assert.True(client.ConnectTo(endpoint));
        Assert.Equal(endpoint, client.Endpoint);
    }

    private sealed class FixedClock : IClock
    {
        public long NowMs => 1_700_000_000_123;

        public long ElapsedMs => 0;
    }
}
