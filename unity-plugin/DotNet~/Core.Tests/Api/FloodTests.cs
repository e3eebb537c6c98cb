#nullable enable
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using JobBroker.Bridge.Tests.Session;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Api;

public sealed class FloodTests
{
    [Fact]
    public void Connections_without_end_keep_the_owner_neither_out_nor_from_its_work()
    {
        using var bridge = new RunningBridge();
        using var stop = new CancellationTokenSource();
        var flooded = 0;
        var flood = new Thread(() => Flood(bridge.Port, () => Interlocked.Increment(ref flooded), stop.Token));
        flood.Start();
        try
        {
            Wait.Until(() => Volatile.Read(ref flooded) > 200, "a flood");
            using var owner = Entered(bridge);
            var before = Volatile.Read(ref flooded);
            for (var id = 10; id < 100 || Volatile.Read(ref flooded) < before + 200; id++)
            {
                owner.Request(id, "ping", new JObject());
                Assert.NotNull(owner.Answer(id)["result"]);
            }
        }
        finally
        {
            stop.Cancel();
            flood.Join();
        }
    }

    /// <summary>A worker tries again when its connection was one of too many.</summary>
    private static WireClient Entered(RunningBridge bridge)
    {
        for (var attempt = 1; ; attempt++)
        {
            var client = bridge.Connect();
            try
            {
                var answer = bridge.Enter(client, "bridge/hello", RunningBridge.Hello(attempt));
                Assert.NotNull(answer["result"]);
                return client;
            }
            catch (Exception error) when (attempt < 50 && (error is SocketException || error is InvalidOperationException))
            {
                client.Dispose();
            }
        }
    }

    /// <summary>Opens connections as fast as it can, and never says anything on the last hundred of them.</summary>
    private static void Flood(int port, Action opened, CancellationToken stop)
    {
        var open = new Queue<Socket>();
        while (!stop.IsCancellationRequested)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                socket.Connect(IPAddress.Loopback, port);
            }
            catch (SocketException)
            {
                socket.Dispose();
                continue;
            }
            open.Enqueue(socket);
            opened();
            if (open.Count > 100) open.Dequeue().Dispose();
        }
        foreach (var socket in open) socket.Dispose();
    }
}
