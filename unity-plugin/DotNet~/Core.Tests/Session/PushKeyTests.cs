#nullable enable
using System.Linq;
using JobBroker.Bridge.Tests.Push;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

public sealed class PushKeyTests
{
    [Theory]
    [InlineData("set-client-name", "PushNotificationEndpoint", "PushNotificationKey")]
    [InlineData("sendPushNotificationEndpoint", "endpoint", "key")]
    public void The_key_that_the_worker_told_comes_first_also_after_a_domain_reload(
        string method, string endpoint, string key)
    {
        using var worker = new PushListener();
        using var bridge = new RunningBridge();
        using var owner = bridge.Owner();
        owner.Request(3, method, new JObject { [endpoint] = $"127.0.0.1:{worker.Port}", [key] = "hush-hush" });
        Assert.NotNull(owner.Answer(3)["result"]);
        Wait.Until(() => worker.Received.Count == 1, "the greeting");

        bridge.Reload();

        Wait.Until(() => worker.Received.Contains("2 DOMAIN_RELOAD_RECOVERED"), "the push of the next domain");
        var first = worker.Lines.Where(line => (string)line["type"]! == "CONNECTION_ESTABLISHED");
        Assert.Equal(["hush-hush", "hush-hush"], first.Select(line => (string)line["payload"]!["key"]!));
        Assert.DoesNotContain("hush", string.Join("\n", bridge.Controller.Log.Entries().Select(entry => entry.Text)));
        Assert.DoesNotContain("hush", string.Join("\n", bridge.Log.Lines));
    }
}
