#nullable enable
using System.Linq;
using System.Net;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Security;

public sealed class EditorProofTests
{
    public static TheoryData<string> Names => new(Golden.Cases("proof.json").Select(one => (string)one["name"]!));

    [Theory]
    [MemberData(nameof(Names))]
    public void Golden_proof(string name)
    {
        var golden = Golden.Cases("proof.json").Single(one => (string)one["name"]! == name);
        string Text(string field) => (string)golden[field]!;
        var challenge = new Challenge(Text("workerNonce"), Text("editorNonce"), Text("address"));

        Assert.Equal(Text("proof"), EditorProof.Of(Text("role"), Text("token"), challenge));

        Assert.True(EditorProof.IsProof(Text("proof"), Text("role"), Text("token"), challenge));
        Assert.False(EditorProof.IsProof(Text("proof"), Text("role"), Text("token") + "x", challenge));
        Assert.False(EditorProof.IsProof(Text("proof")[1..], Text("role"), Text("token"), challenge));
        Assert.False(EditorProof.IsProof("", Text("role"), Text("token"), challenge));
    }

    [Fact]
    public void Nobody_proves_to_hold_an_empty_token()
    {
        var challenge = new Challenge(EditorProof.NewNonce(), EditorProof.NewNonce(), "127.0.0.1:8700");
        var proof = EditorProof.Of(EditorProof.Worker, "", challenge);
        Assert.False(EditorProof.IsProof(proof, EditorProof.Worker, "", challenge));
    }

    [Fact]
    public void Nonces_are_32_characters_of_base64url_and_never_the_same()
    {
        var nonces = Enumerable.Range(0, 1000).Select(_ => EditorProof.NewNonce()).ToList();
        Assert.Equal(1000, nonces.Distinct().Count());
        Assert.All(nonces, nonce => Assert.Matches("^[A-Za-z0-9_-]{32}$", nonce));
    }

    [Fact]
    public void A_wrapped_address_is_the_same_address()
    {
        var wrapped = new IPEndPoint(IPAddress.Loopback.MapToIPv6(), 8700);
        Assert.Equal("127.0.0.1:8700", EditorProof.AddressOf(wrapped));
        Assert.Equal("127.0.0.1:8700", EditorProof.AddressOf(new IPEndPoint(IPAddress.Loopback, 8700)));
    }
}
