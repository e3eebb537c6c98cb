#nullable enable
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Session;
using JobBroker.Bridge.Tests.Wire;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Api;

/// <summary>When a broker of another store gets the Editor (docs/reference/protocol.md, "Hello and fencing").</summary>
public sealed class FenceGateTests
{
    private const long Minute = 60_000;

    private readonly ManualClock clock = new();

    private static JObject Refused(RunningBridge bridge, WireClient other)
    {
        var error = bridge.Enter(other, "bridge/hello", RunningBridge.Hello(2, "store-2"))["error"];
        Assert.Equal(ErrorCodes.ForeignBroker, (int?)error?["code"]);
        return (JObject)error!["data"]!;
    }

    private static void LetIn(RunningBridge bridge, WireClient other) =>
        Assert.Null(bridge.Enter(other, "bridge/hello", RunningBridge.Hello(2, "store-2"))["error"]);

    [Fact]
    public void A_connected_broker_keeps_its_Editor_for_an_hour_of_idleness_and_another_is_told_who_has_it()
    {
        using var bridge = new RunningBridge(clock: clock);
        using var owner = bridge.Owner();
        using var other = bridge.Connect();
        clock.NowMs += 60 * Minute;
        var said = Refused(bridge, other);
        Assert.Equal(
            ("store-1", true, "broker", "1"),
            ((string)said["boundTo"]!, (bool)said["connected"]!, (string)said["brokerId"]!, (string)said["version"]!));
        owner.Request(3, "operation/list", new JObject());
        Assert.NotNull(owner.Answer(3)["result"]);
    }

    [Fact]
    public void An_Editor_is_free_a_minute_after_the_connection_of_its_broker_ended()
    {
        using var bridge = new RunningBridge(clock: clock);
        using var other = bridge.Connect();
        using (bridge.Owner()) clock.NowMs += 60 * Minute;
        Wait.Until(() => !(bool)Refused(bridge, other)["connected"]!, "the end of the connection");
        clock.NowMs += Minute - 1;
        Assert.Equal("store-1", (string)Refused(bridge, other)["boundTo"]!);
        clock.NowMs += 1;
        LetIn(bridge, other);
    }

    [Fact]
    public void A_broker_that_took_an_Editor_over_has_a_minute_to_come_however_long_the_one_before_was_away()
    {
        using var bridge = new RunningBridge(clock: clock);
        using (bridge.Owner()) clock.NowMs += Minute;
        using var person = bridge.Connect();
        clock.NowMs += 60 * Minute;
        Assert.Null(bridge.Enter(person, "bridge/hand_over", new JObject { ["storeId"] = "store-3" })["error"]);
        using var other = bridge.Connect();
        var said = Refused(bridge, other);
        Assert.Equal(("store-3", false, false), ((string)said["boundTo"]!, (bool)said["connected"]!, said.ContainsKey("brokerId")));
    }
}
