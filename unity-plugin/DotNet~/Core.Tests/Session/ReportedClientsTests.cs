#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tests.Wire;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>What the bridge keeps of <c>bridge/clients</c>.</summary>
public sealed class ReportedClientsTests : IDisposable
{
    private readonly RunningBridge bridge = new();

    public void Dispose() => bridge.Dispose();

    [Fact]
    public void The_worker_names_clients_until_it_names_others_or_its_connection_ends()
    {
        using (var owner = bridge.Owner())
        {
            Assert.Equal(0, bridge.Controller.Status().McpClients.Total);
            Tell(owner, new JArray(Client("claude-code", "1.0.3", "stdio"), Client("cursor", "2", "http")), 7);
            Assert.Equal("claude-code 1.0.3 stdio, cursor 2 http of 7", Shown());
            Tell(owner, new JArray(Client("codex", "3", "stdio")), 1);
            Assert.Equal("codex 3 stdio of 1", Shown());
        }
        Wait.Until(() => bridge.Controller.Status().McpClients.Total == 0, "nobody reports changes any more");
    }

    [Fact]
    public void Nobody_else_names_any()
    {
        using var open = new RunningBridge(options => options.PlainSurface = true);
        using var stranger = open.Connect();
        Tell(stranger, new JArray(Client("codex", "3", "stdio")), 1);
        Assert.Equal(0, open.Controller.Status().McpClients.Total);

        using var before = open.Owner(1);
        using var owner = open.Owner(2);
        Tell(owner, new JArray(Client("cursor", "2", "http")), 1);
        Assert.True(before.Ends());
        Assert.Equal("cursor", Assert.Single(open.Controller.Status().McpClients.Clients).Name);
    }

    [Fact]
    public void Names_are_one_line_of_bounded_length_and_there_are_not_too_many()
    {
        using var owner = bridge.Owner();
        var hostile = Client("\u001b[2J\n<b>" + new string('x', 9_000), new string('9', 9_000), "http");
        Tell(owner, new JArray(Enumerable.Repeat(hostile, 40)), 1_000);
        var report = bridge.Controller.Status().McpClients;
        Assert.Equal(1_000, report.Total);
        Assert.Equal(32, report.Clients.Count);
        Assert.All(report.Clients, client =>
        {
            Assert.StartsWith("\\u001b[2J\\u000a<b>xx", client.Name);
            Assert.Equal(64, client.Name.Length);
            Assert.Equal(32, client.Version.Length);
        });
    }

    [Theory]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("{}")]
    [InlineData("""{"clients":{}}""")]
    public void What_is_no_list_changes_nothing(string parameters)
    {
        var clients = new ReportedClients();
        clients.Take(1, new JObject { ["clients"] = new JArray(Client("codex", "3", "stdio")), ["total"] = 1 });
        clients.Take(1, JToken.Parse(parameters));
        clients.Take(1, null);
        Assert.Equal("codex", Assert.Single(clients.Now.Clients).Name);
    }

    [Fact]
    public void Entries_that_are_no_clients_are_left_out()
    {
        var clients = new ReportedClients();
        var listed = new JArray(
            1, new JObject(), null!, Client("a", "1", "carrier pigeon"), new JObject { ["name"] = 5 },
            new JObject { ["name"] = "cursor", ["transport"] = "http" });
        clients.Take(1, new JObject { ["clients"] = listed, ["total"] = -5 });
        var only = Assert.Single(clients.Now.Clients);
        Assert.Equal(("cursor", "", "http"), (only.Name, only.Version, only.Transport));
        Assert.Equal(1, clients.Now.Total);
        clients.Left(2);
        Assert.Equal(1, clients.Now.Total);
    }

    private string Shown()
    {
        var report = bridge.Controller.Status().McpClients;
        var names = report.Clients.Select(client => $"{client.Name} {client.Version} {client.Transport}");
        return $"{string.Join(", ", names)} of {report.Total}";
    }

    /// <summary>Returns when it was handled: the answer to what is sent behind it has come.</summary>
    private static void Tell(WireClient client, JArray clients, long total)
    {
        var parameters = new JObject { ["clients"] = clients, ["total"] = total };
        client.Text(JsonRpcProcessor.Notification("bridge/clients", parameters));
        client.Request(77, "ping");
        Assert.NotNull(client.Answer(77));
    }

    private static JObject Client(string name, string version, string transport) => new()
    {
        ["name"] = name,
        ["version"] = version,
        ["transport"] = transport,
    };
}
