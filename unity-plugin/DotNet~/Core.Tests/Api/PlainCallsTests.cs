#nullable enable
using System;
using JobBroker.Bridge.Tests.Session;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Api;

/// <summary>Calls by a tool's name, as uLoop clients make them.</summary>
public sealed class PlainCallsTests
{
    private static readonly string[] Calls =
    [
        "ping", "get-tool-details", "get-command-details", "set-client-name", "sendPushNotificationEndpoint", "get-logs",
        "compile", "build-player", "execute-code", "never-heard-of",
    ];

    private static JToken Refused(WireClient client, int id, string method, string reason)
    {
        client.Request(id, method, new JObject());
        var error = client.Answer(id)["error"]!;
        Assert.Equal("security_blocked", (string)error["data"]!["type"]!);
        Assert.Equal(method, (string)error["data"]!["command"]!);
        Assert.Contains(reason, (string)error["data"]!["reason"]!);
        return error;
    }

    [Fact]
    public void A_stranger_is_answered_nothing_before_and_after_a_worker_came()
    {
        using var bridge = new RunningBridge();
        for (var round = 0; round < 2; round++)
        {
            using var stranger = bridge.Connect();
            for (var id = 0; id < Calls.Length; id++) Refused(stranger, id, Calls[id], "prove to hold its token");
            using var owner = bridge.Owner();
        }
        Assert.Empty(bridge.Editor.Builds.Built);
    }

    [Fact]
    public void The_refusal_says_what_would_open_it_and_what_that_means()
    {
        using var bridge = new RunningBridge();
        using var stranger = bridge.Connect();
        Assert.Equal(
            "This bridge answers only callers that prove to hold its token. To call tools without it, turn on the plain surface: then "
            + "every program and user of this machine may run them.",
            (string)Refused(stranger, 1, "compile", "")["message"]!);
    }

    [Fact]
    public void A_stranger_is_closed_after_its_time()
    {
        using var bridge = new RunningBridge(options => options.StrangerMs = 200);
        using var stranger = bridge.Connect();
        using var owner = bridge.Owner();
        Assert.True(stranger.Ends());
        owner.Request(3, "ping", new JObject());
        Assert.NotNull(owner.Answer(3)["result"]);
    }

    [Fact]
    public void With_the_plain_surface_on_any_caller_may_call_tools_and_stays()
    {
        using var bridge = new RunningBridge(options =>
        {
            options.PlainSurface = true;
            options.StrangerMs = 1;
        });
        using var owner = bridge.Owner();
        using var client = bridge.Connect();
        client.Request(1, "get-tool-details", new JObject());
        Assert.NotEmpty(client.Answer(1)["result"]!["Tools"]!);
        client.Request(2, "get-logs", new JObject());
        Assert.NotNull(client.Answer(2)["result"]);

        bridge.Options.PlainSurface = false;
        Assert.True(client.Ends());
        owner.Request(3, "ping", new JObject());
        Assert.NotNull(owner.Answer(3)["result"]);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_worker_never_calls_a_tool_by_its_name(bool plainSurface)
    {
        using var bridge = new RunningBridge(options => options.PlainSurface = plainSurface);
        using var owner = bridge.Owner();
        Refused(owner, 3, "get-logs", "Submit an operation: a job broker drives this Editor.");
        foreach (var (id, method) in new[] { (4, "get-tool-details"), (5, "set-client-name"), (6, "sendPushNotificationEndpoint"), (7, "ping") })
        {
            owner.Request(id, method, new JObject());
            Assert.NotNull(owner.Answer(id)["result"]);
        }
    }
}
