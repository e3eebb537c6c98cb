#nullable enable
using System;
using System.Diagnostics;
using System.Linq;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Threading;
using JobBroker.Bridge.Framing;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

public sealed class McpBridgeServerTests : IDisposable
{
    private readonly WireHandler handler = new();
    private readonly WireLog log = new();
    private readonly WireLimits limits = new();
    private readonly McpBridgeServer server;

    public McpBridgeServerTests()
    {
        server = new McpBridgeServer(handler, limits, log);
        server.Listen(0);
    }

    public void Dispose() => Assert.True(server.Stop(5000));

    private static byte[] Echo(int id, string text) => FrameParser.Encode(JsonRpcProcessor.Request(id, "echo", text));

    private WireClient Connect(int receiveBuffer = 0) => new(server.Port, receiveBuffer);

    [Fact]
    public void Requests_reach_the_handler_in_their_order_and_answers_leave_as_they_come()
    {
        using var client = Connect();
        client.Raw(Enumerable.Range(0, 3)
            .Select(key => JsonRpcProcessor.Request(key, "hold", new JObject { ["key"] = key.ToString() }))
            .SelectMany(FrameParser.Encode)
            .Concat(FrameParser.Encode(JsonRpcProcessor.Request("quick", "echo", "at once")))
            .ToArray());
        Assert.Equal("quick", (string)client.Next()!["id"]!);
        Assert.Equal(
            ["hold {\"key\":\"0\"}", "hold {\"key\":\"1\"}", "hold {\"key\":\"2\"}", "echo \"at once\""], handler.Handled);
        foreach (var key in new[] { "2", "0", "1" }) handler.Held[key](Answer.Result(key));
        foreach (var key in new[] { "2", "0", "1" }) Assert.Equal(key, (string)client.Next()!["id"]!);
    }

    [Fact]
    public void A_thousand_pipelined_requests_byte_by_byte_and_all_at_once()
    {
        var all = Enumerable.Range(0, 1000).SelectMany(id => Echo(id, "é" + id)).ToArray();
        using var whole = Connect();
        whole.Raw(all);
        for (var id = 0; id < 1000; id++) Assert.Equal("é" + id, (string)whole.Next()!["result"]!);
        using var cut = Connect();
        foreach (var at in all[..5000]) cut.Raw([at]);
        cut.Raw(all[5000..]);
        for (var id = 0; id < 1000; id++) Assert.Equal("é" + id, (string)cut.Next()!["result"]!);
    }

    [Fact]
    public void What_is_no_request_is_answered_and_the_connection_goes_on()
    {
        using var client = Connect();
        client.Text("[]");
        Assert.Equal(-32600, (int)client.Next()!["error"]!["code"]!);
        client.Text("{");
        Assert.Equal(-32700, (int)client.Next()!["error"]!["code"]!);
        client.Text(new string('[', 500_000));
        Assert.Equal(-32600, (int)client.Next()!["error"]!["code"]!);
        client.Raw($"Content-Length: {limits.FrameBytes + 1}\r\n\r\n" + new string('x', limits.FrameBytes + 1));
        Assert.Equal(-32015, (int)client.Next()!["error"]!["code"]!);
        client.Text(JsonRpcProcessor.Notification("note", null));
        client.Text(JsonRpcProcessor.Notification("throw", null));
        client.Request(1, "throw");
        var error = client.Next()!["error"]!;
        Assert.Equal((-32603, "broken"), ((int)error["code"]!, (string)error["message"]!));
        Assert.Equal("internal_error", (string)error["data"]!["type"]!);
        client.Request(2, "nonsense");
        Assert.Equal(-32601, (int)client.Next()!["error"]!["code"]!);
        client.Request(3, "twice");
        Assert.Equal("first", (string)client.Next()!["result"]!);
        client.Request(4, "echo", "still here");
        Assert.Equal("still here", (string)client.Next()!["result"]!);
        Assert.Equal(["throw", "nonsense", "twice", "echo \"still here\""], handler.Handled);
        Assert.Equal(["note", "throw"], handler.Notifications);
        Assert.Equal(1, handler.Afterwards);
    }

    [Fact]
    public void A_web_page_s_POST_is_told_why_and_closed_and_nothing_of_its_body_is_executed()
    {
        // Long enough that most of it is unread when the reason leaves: closing then would take the reason back.
        limits.LingerMs = 10_000;
        using var page = Connect();
        var body = Enumerable.Range(0, 20_000).SelectMany(id => Echo(id, "pwned")).ToArray();
        page.Raw($"POST / HTTP/1.1\r\nHost: 127.0.0.1:{server.Port}\r\nOrigin: http://evil.example\r\n");
        page.Raw($"Content-Length: {body.Length}\r\n\r\n");
        page.Raw(body);
        Assert.Equal(-32700, (int)page.Next()!["error"]!["code"]!);
        Assert.Null(page.Next());
        page.Dispose();
        Wait.Until(() => handler.ClosedPeers.Count == 1, "the end of the connection");
        Assert.Empty(handler.Handled);
    }

    [Fact]
    public void An_answer_that_closes_is_the_last_and_nothing_behind_its_request_is_executed()
    {
        using var client = Connect();
        // In one piece: the second stands in the buffer already when the first is answered.
        client.Raw([.. FrameParser.Encode(JsonRpcProcessor.Request(1, "bye", null)), .. Echo(2, "late")]);
        client.Request(3, "echo", "later");
        Assert.Equal("token", (string)client.Next()!["error"]!["data"]!["why"]!);
        Assert.Null(client.Next());
        Wait.Until(() => handler.ClosedPeers.Count == 1, "the end of the connection");
        Assert.Equal(["bye"], handler.Handled);
        Assert.Equal(1, handler.Afterwards);
    }

    [Fact]
    public void Closing_a_peer_is_behind_what_was_sent_and_what_comes_later_is_harmless()
    {
        using var client = Connect();
        client.Request(1, "hold", new JObject { ["key"] = "k" });
        Wait.Until(() => handler.Held.ContainsKey("k"), "the request");
        var peer = handler.Peers.Values.Single();
        Assert.True(peer.IsOpen);
        peer.Notify("big", new JObject { ["text"] = new string('x', 3_000_000) });
        peer.Close();
        Assert.False(peer.IsOpen);
        peer.Notify("late", new JObject());
        handler.Held["k"](Answer.Result("late").Then(() => Interlocked.Increment(ref handler.Afterwards)));
        Assert.Equal(3_000_000, ((string)client.Next()!["params"]!["text"]!).Length);
        Assert.Null(client.Next());
        Wait.Until(() => server.ConnectionCount == 0, "the end of the connection");
        handler.Held["k"](Answer.Result("later"));
        Assert.Equal(0, handler.Afterwards);
        Assert.Single(handler.ClosedPeers);
    }

    [Fact]
    public void A_large_answer_reaches_a_slow_reader_whole()
    {
        using var client = Connect(receiveBuffer: 4096);
        client.Request(1, "text", new JObject { ["length"] = 20_000_000 });
        Wait.Until(() => client.Socket.Available > 0, "the answer's first bytes");
        client.Request(2, "echo", "behind");
        Wait.Until(() => handler.Handled.Count == 2, "both requests");
        Assert.Equal(0, Volatile.Read(ref handler.Afterwards));
        var text = (string)client.Next()!["result"]!;
        Assert.Equal(new string('x', 20_000_000), text);
        Assert.Equal("behind", (string)client.Next()!["result"]!);
        Wait.Until(() => Volatile.Read(ref handler.Afterwards) == 1, "what follows the answer");
    }

    [Fact]
    public void Who_has_read_an_answer_finds_it_settled_by_the_next_request()
    {
        using var client = Connect();
        client.Request(1, "settle");
        Assert.Equal("settled later", (string)client.Next()!["result"]!);
        client.Request(2, "settled?");
        Assert.True((bool)client.Next()!["result"]!);
    }

    [Fact]
    public void A_peer_that_does_not_read_is_closed_and_holds_nobody_up()
    {
        limits.OutboundBytes = 8_000_000;
        using var deaf = Connect(receiveBuffer: 4096);
        using var other = Connect();
        deaf.Request(1, "admit");
        other.Request(1, "admit");
        Assert.NotNull(other.Next());
        Wait.Until(() => handler.Peers.Count == 2, "both connections");
        var note = new JObject { ["text"] = new string('x', 500_000) };
        for (var round = 2; handler.ClosedPeers.IsEmpty; round++)
        {
            Assert.True(round < 1000, "the bound was never reached");
            var clock = Stopwatch.StartNew();
            server.Broadcast("note", note);
            Assert.InRange(clock.ElapsedMilliseconds, 0, 60_000);
            Assert.Equal("note", (string)other.Next()!["method"]!);
            other.Request(round, "echo", round);
            Assert.Equal(round, (int)other.Next()!["result"]!);
        }
        Assert.Contains(log.Lines, line => line.Contains("does not read"));
        Assert.Equal(1, server.ConnectionCount);
    }

    [Fact]
    public void A_peer_that_takes_nothing_for_too_long_is_closed()
    {
        limits.StallMs = 200;
        using var deaf = Connect(receiveBuffer: 4096);
        deaf.Request(1, "text", new JObject { ["length"] = 10_000_000 });
        Wait.Until(() => handler.ClosedPeers.Count == 1, "the end of the connection");
        Assert.Equal(0, handler.Afterwards);
    }

    [Fact]
    public void An_answer_over_the_bound_becomes_an_error()
    {
        limits.OutboundBytes = 1_000_000;
        using var client = Connect();
        client.Request(1, "text", new JObject { ["length"] = 2_000_000 });
        Assert.Equal(-32603, (int)client.Next()!["error"]!["code"]!);
        client.Request(2, "echo", "still here");
        Assert.Equal("still here", (string)client.Next()!["result"]!);
    }

    [Fact]
    public void Peers_that_half_close_reset_or_stop_in_a_frame_harm_nobody()
    {
        using var staying = Connect();
        staying.Raw("Content-Length: 100\r\n\r\n{\"jsonrpc\"");
        using (var half = Connect())
        {
            half.Request(1, "text", new JObject { ["length"] = 3_000_000 });
            half.Socket.Shutdown(SocketShutdown.Send);
            Assert.Equal(3_000_000, ((string)half.Next()!["result"]!).Length);
            Assert.Null(half.Next());
        }
        using (var reset = Connect())
        {
            reset.Request(1, "hold", new JObject { ["key"] = "reset" });
            Wait.Until(() => handler.Held.ContainsKey("reset"), "the request");
            reset.Socket.LingerState = new LingerOption(true, 0);
        }
        Wait.Until(() => handler.ClosedPeers.Count == 2, "both ends");
        handler.Held["reset"](Answer.Result("nobody"));
        using var good = Connect();
        good.Request(1, "echo", "fine");
        Assert.Equal("fine", (string)good.Next()!["result"]!);
        Assert.Equal(2, server.ConnectionCount);
        Assert.Equal(handler.ClosedPeers.Count, handler.ClosedPeers.Distinct().Count());
    }

    [Fact]
    public void Dropped_connections_end_and_new_ones_are_welcome()
    {
        using var one = Connect();
        one.Request(1, "echo");
        Assert.NotNull(one.Next());
        server.DropConnections();
        Assert.Null(one.Next());
        using var two = Connect();
        two.Request(1, "echo", 2);
        Assert.Equal(2, (int)two.Next()!["result"]!);
    }

    [Fact]
    public void Only_loopback_is_listened_on_and_a_taken_port_is_said()
    {
        var second = new McpBridgeServer(handler, limits, log);
        Assert.Equal(server.Port, Assert.Throws<PortTakenException>(() => second.Listen(server.Port)).Port);
        Assert.Throws<PortTakenException>(() => second.ListenOnFirstFree(server.Port, server.Port));
        Assert.Throws<InvalidOperationException>(() => server.Listen(0));
        Assert.True(second.Stop());
        var listeners = IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpListeners();
        Assert.Equal("127.0.0.1", listeners.Single(end => end.Port == server.Port).Address.ToString());
    }

    [Fact]
    public void The_first_free_port_is_taken()
    {
        // Other processes on this machine may take ports of the range at any time.
        var second = new McpBridgeServer(handler, limits, log);
        var port = second.ListenOnFirstFree(server.Port, Math.Min(65535, server.Port + 50));
        Assert.InRange(port, server.Port + 1, server.Port + 50);
        Assert.Equal(port, second.Port);
        Assert.True(second.Stop(5000));
    }
}
