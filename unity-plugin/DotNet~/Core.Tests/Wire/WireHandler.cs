#nullable enable
using System;
using System.Collections.Concurrent;
using System.Threading;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Wire;

/// <summary>Methods that show what the server does; what is held is answered by the test.</summary>
internal sealed class WireHandler : IRequestHandler
{
    public ConcurrentQueue<string> Handled { get; } = new();

    public ConcurrentQueue<string> Notifications { get; } = new();

    public ConcurrentQueue<int> ClosedPeers { get; } = new();

    public ConcurrentDictionary<string, Action<Answer>> Held { get; } = new();

    public ConcurrentDictionary<int, IPeer> Peers { get; } = new();

    public int Afterwards;

    public void Handle(IPeer peer, string method, JToken? parameters, Action<Answer> reply)
    {
        Handled.Enqueue(method + (parameters == null ? "" : " " + parameters.ToString(Formatting.None)));
        Peers[peer.Id] = peer;
        switch (method)
        {
            case "echo":
                reply(Answer.Result(parameters ?? JValue.CreateNull()));
                break;
            case "hold":
                Held[(string)parameters!["key"]!] = reply;
                break;
            case "text":
                reply(Answer.Result(new string('x', (int)parameters!["length"]!)).Then(Count));
                break;
            case "twice":
                reply(Answer.Result("first").Then(Count));
                reply(Answer.Result("second").Then(Count));
                break;
            case "settle":
                // Long enough for a client to read the answer and ask again.
                reply(Answer.Result("settled later").Then(() =>
                {
                    Thread.Sleep(200);
                    Count();
                }));
                break;
            case "settled?":
                reply(Answer.Result(Volatile.Read(ref Afterwards) == 1));
                break;
            case "bye":
                var why = new JObject { ["why"] = "token" };
                reply(Answer.Error(ErrorCodes.Unauthorized, "no", why).AndClose().Then(Count));
                break;
            case "admit":
                peer.Admit();
                reply(Answer.Result(peer.LocalAddress));
                break;
            case "throw":
                throw new InvalidOperationException("broken");
            default:
                reply(Answer.Error(ErrorCodes.MethodNotFound, "unknown method"));
                break;
        }
    }

    public void Notified(IPeer peer, string method, JToken? parameters)
    {
        Notifications.Enqueue(method);
        if (method == "throw") throw new InvalidOperationException("broken");
    }

    public void Closed(IPeer peer) => ClosedPeers.Enqueue(peer.Id);

    private void Count() => Interlocked.Increment(ref Afterwards);
}
