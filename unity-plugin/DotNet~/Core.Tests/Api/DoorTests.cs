#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Session;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Api;

/// <summary>No caller is admitted without a proof of the token, and the token never travels.</summary>
public sealed class DoorTests : IDisposable
{
    private const int Unauthorized = -32010;

    private readonly RunningBridge bridge = new();

    public void Dispose() => bridge.Dispose();

    private static JObject Proof(string proof) => new() { ["proof"] = proof };

    private static void ExpectNotProven(WireClient client, int id)
    {
        var error = client.Answer(id)["error"]!;
        Assert.Equal(Unauthorized, (int)error["code"]!);
        Assert.StartsWith("Not proven.", (string)error["message"]!);
        Assert.True(client.Ends());
    }

    [Fact]
    public void Who_holds_the_token_is_answered_and_seated()
    {
        using var client = bridge.Connect();
        var answer = bridge.Enter(client, "bridge/hello", RunningBridge.Hello())["result"]!;
        Assert.Equal(bridge.Controller.Status().EditorSessionId, (string)answer["editorSessionId"]!);
        Assert.True(bridge.Controller.Status().WorkerConnected);
        Assert.Null(answer["labels"]);
        client.Request(3, "operation/list", new JObject());
        Assert.NotNull(client.Answer(3)["result"]);
    }

    [Fact]
    public void Hello_says_which_pools_it_is_in()
    {
        bridge.Editor.Info.Labels = ["android", "gpu"];
        using var client = bridge.Connect();
        var answer = bridge.Enter(client, "bridge/hello", RunningBridge.Hello())["result"]!;
        Assert.Equal(["android", "gpu"], answer["labels"]!.ToObject<string[]>()!);
    }

    [Fact]
    public void Other_labels_end_the_workers_connection_and_the_next_hello_says_them()
    {
        bridge.Editor.Info.Labels = ["android"];
        using var before = bridge.Owner();
        bridge.Editor.Info.Labels = ["android"];
        bridge.Controller.Pump();
        Assert.True(bridge.Controller.Status().WorkerConnected, "the same labels, in another list");

        bridge.Editor.Info.Labels = ["gpu"];
        bridge.Controller.Pump();

        Assert.False(bridge.Controller.Status().WorkerConnected);
        Assert.True(before.Ends());
        using var after = bridge.Connect();
        var answer = bridge.Enter(after, "bridge/hello", RunningBridge.Hello())["result"]!;
        Assert.Equal(["gpu"], answer["labels"]!.ToObject<string[]>()!);
        bridge.Controller.Pump();
        Assert.True(bridge.Controller.Status().WorkerConnected);
        Assert.Equal(["gpu"], bridge.Controller.Status().Labels);
    }

    [Fact]
    public void A_challenge_alone_changes_nothing()
    {
        using var client = bridge.Connect();
        bridge.Challenged(client, "bridge/hello", RunningBridge.Hello());
        Assert.False(bridge.Controller.Status().WorkerConnected);
        Assert.Null(bridge.Controller.Status().BoundStore);
        client.Request(3, "operation/list", new JObject());
        Assert.Equal(Unauthorized, (int)client.Answer(3)["error"]!["code"]!);
    }

    [Fact]
    public void Another_token_proves_nothing()
    {
        using var client = bridge.Connect();
        var challenge = bridge.Challenged(client, "bridge/hello", RunningBridge.Hello());
        client.Request(2, "bridge/prove", Proof(EditorProof.Of(EditorProof.Worker, "guessed", challenge)));
        ExpectNotProven(client, 2);
        Assert.Null(bridge.Controller.Status().BoundStore);
    }

    [Fact]
    public void The_Editors_own_proof_sent_back_proves_nothing()
    {
        using var client = bridge.Connect();
        var challenge = bridge.Challenged(client, "bridge/hello", RunningBridge.Hello());
        client.Request(2, "bridge/prove", Proof(EditorProof.Of(EditorProof.Editor, RunningBridge.Token, challenge)));
        ExpectNotProven(client, 2);
    }

    [Fact]
    public void A_proof_for_another_port_proves_nothing()
    {
        using var client = bridge.Connect();
        var made = bridge.Challenged(client, "bridge/hello", RunningBridge.Hello());
        var relayed = new Challenge(made.WorkerNonce, made.EditorNonce, $"127.0.0.1:{bridge.Port + 1}");
        client.Request(2, "bridge/prove", Proof(EditorProof.Of(EditorProof.Worker, RunningBridge.Token, relayed)));
        ExpectNotProven(client, 2);
    }

    [Fact]
    public void A_proof_of_another_connection_proves_nothing()
    {
        using var owner = bridge.Connect();
        using var thief = bridge.Connect();
        var made = bridge.Challenged(owner, "bridge/hello", RunningBridge.Hello());
        bridge.Challenged(thief, "bridge/hello", RunningBridge.Hello());
        thief.Request(2, "bridge/prove", Proof(EditorProof.Of(EditorProof.Worker, RunningBridge.Token, made)));
        ExpectNotProven(thief, 2);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("""{}""")]
    [InlineData("""{"proof":null}""")]
    [InlineData("""{"proof":1}""")]
    [InlineData("""{"proof":""}""")]
    [InlineData("""["proof"]""")]
    public void What_is_no_proof_proves_nothing(string? parameters)
    {
        using var client = bridge.Connect();
        bridge.Challenged(client, "bridge/hello", RunningBridge.Hello());
        client.Request(2, "bridge/prove", parameters == null ? null : JToken.Parse(parameters));
        ExpectNotProven(client, 2);
    }

    [Fact]
    public void A_proof_without_a_challenge_proves_nothing()
    {
        using var client = bridge.Connect();
        client.Request(1, "bridge/prove", Proof(new string('0', 64)));
        ExpectNotProven(client, 1);
    }

    [Fact]
    public void A_second_proof_for_the_same_challenge_proves_nothing()
    {
        using var client = bridge.Connect();
        var challenge = bridge.Challenged(client, "bridge/hello", RunningBridge.Hello());
        var proof = Proof(EditorProof.Of(EditorProof.Worker, RunningBridge.Token, challenge));
        client.Request(2, "bridge/prove", proof);
        Assert.NotNull(client.Answer(2)["result"]);
        client.Request(3, "bridge/prove", proof);
        ExpectNotProven(client, 3);
    }

    [Fact]
    public void What_was_overheard_proves_nothing_later()
    {
        using var owner = bridge.Connect();
        var heard = bridge.Challenged(owner, "bridge/hello", RunningBridge.Hello());
        var proof = Proof(EditorProof.Of(EditorProof.Worker, RunningBridge.Token, heard));
        owner.Request(2, "bridge/prove", proof);
        Assert.NotNull(owner.Answer(2)["result"]);

        using var listener = bridge.Connect();
        listener.Request(1, "bridge/hello", new JObject(RunningBridge.Hello()) { ["nonce"] = heard.WorkerNonce });
        Assert.NotNull(listener.Answer(1)["result"]);
        listener.Request(2, "bridge/prove", proof);
        ExpectNotProven(listener, 2);
    }

    [Fact]
    public void A_later_challenge_takes_the_place_of_the_one_before()
    {
        using var client = bridge.Connect();
        var first = bridge.Challenged(client, "bridge/hello", RunningBridge.Hello());
        bridge.Challenged(client, "bridge/hello", RunningBridge.Hello());
        client.Request(2, "bridge/prove", Proof(EditorProof.Of(EditorProof.Worker, RunningBridge.Token, first)));
        ExpectNotProven(client, 2);
    }

    [Fact]
    public void After_a_refusal_behind_the_proof_the_worker_says_hello_again()
    {
        using var other = bridge.Owner(epoch: 5);
        using var client = bridge.Connect();
        var fenced = bridge.Enter(client, "bridge/hello", RunningBridge.Hello(epoch: 4))["error"]!;
        Assert.Equal((-32011, 5), ((int)fenced["code"]!, (int)fenced["data"]!["highestEpoch"]!));
        Assert.NotNull(bridge.Enter(client, "bridge/hello", RunningBridge.Hello(epoch: 6))["result"]);
        Assert.True(other.Ends());
    }

    [Fact]
    public void Handing_over_needs_the_proof_too()
    {
        using var owner = bridge.Owner();
        using var thief = bridge.Connect();
        var asked = new JObject { ["storeId"] = "store-2" };
        var challenge = bridge.Challenged(thief, "bridge/hand_over", asked);
        thief.Request(2, "bridge/prove", Proof(EditorProof.Of(EditorProof.Worker, "guessed", challenge)));
        ExpectNotProven(thief, 2);
        Assert.Equal("store-1", bridge.Controller.Status().BoundStore);

        using var person = bridge.Connect();
        var answer = bridge.Enter(person, "bridge/hand_over", asked)["result"]!;
        Assert.Equal(("store-2", "store-1"), ((string)answer["boundTo"]!, (string)answer["before"]!));
        Assert.True(owner.Ends());
    }

    [Theory]
    [InlineData("short")]
    [InlineData("with a space in it, and long enough")]
    [InlineData("a-nonce-with-a-line\nbreak-in-it")]
    [InlineData("")]
    [InlineData(null)]
    public void A_nonce_that_is_none_ends_the_connection(string? nonce)
    {
        foreach (var method in new[] { "bridge/hello", "bridge/hand_over" })
        {
            using var client = bridge.Connect();
            client.Request(1, method, new JObject(RunningBridge.Hello()) { ["nonce"] = nonce });
            Assert.Equal(-32602, (int)client.Answer(1)["error"]!["code"]!);
            Assert.True(client.Ends());
        }
    }

    [Fact]
    public void The_token_itself_is_no_way_in()
    {
        using var client = bridge.Connect();
        client.Request(1, "bridge/hello", new JObject(RunningBridge.Hello()) { ["token"] = RunningBridge.Token });
        Assert.Equal(-32602, (int)client.Answer(1)["error"]!["code"]!);
        Assert.False(bridge.Controller.Status().WorkerConnected);
    }

    [Fact]
    public void An_empty_token_is_replaced_by_one_that_nobody_knows()
    {
        using var open = new RunningBridge(options => options.Token = "");
        var token = (string)JObject.Parse(System.IO.File.ReadAllText(open.EndpointFile))["token"]!;
        Assert.Matches("^[A-Za-z0-9_-]{32}$", token);
    }

    [Fact]
    public void Nothing_that_is_said_or_shown_has_a_secret_of_the_door_in_it()
    {
        using var owner = bridge.Owner();
        owner.Request(3, "set-client-name", new JObject
        {
            ["ClientName"] = "worker",
            ["PushNotificationEndpoint"] = "127.0.0.1:1",
            ["PushNotificationKey"] = "hush-hush-key",
        });
        Assert.NotNull(owner.Answer(3)["result"]);
        owner.Request(4, "sendPushNotificationEndpoint", new JObject
        {
            ["endpoint"] = "127.0.0.1:1",
            ["key"] = "hush-hush-key",
        });
        Assert.NotNull(owner.Answer(4)["result"]);
        owner.Request(5, "ping");
        Assert.NotNull(owner.Answer(5)["result"]);
        var shown = string.Join("\n", bridge.Controller.Log.Entries().Select(entry => entry.Text).Concat(bridge.Log.Lines));
        Assert.Contains("127.0.0.1:1", shown);
        Assert.DoesNotContain("hush", shown);
        Assert.DoesNotContain(RunningBridge.Token, shown);
        Assert.DoesNotMatch("[0-9a-f]{64}", shown);
    }
}
