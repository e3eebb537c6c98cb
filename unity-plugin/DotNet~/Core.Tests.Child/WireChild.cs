using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using JobBroker.Bridge.Framing;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Child;

/// <summary>The two ends of a connection, each of them as whatever user the process runs as.</summary>
internal static class WireChild
{
    /// <summary>Says its port and answers until it is killed.</summary>
    public static void Serve()
    {
        var server = new McpBridgeServer(new Answering(), 1024, new Silent());
        Console.WriteLine(server.Listen(0));
        Thread.Sleep(Timeout.Infinite);
    }

    /// <summary>Sends one request and says whether it was answered, or closed without a word.</summary>
    public static void Ask(int port, bool halfCloses)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(IPAddress.Loopback, port);
        try
        {
            socket.Send(FrameParser.Encode(JsonRpcProcessor.Request(1, "anything", null)));
            if (halfCloses) socket.Shutdown(SocketShutdown.Send);
            Console.WriteLine(socket.Receive(new byte[1024]) > 0 ? "answered" : "closed");
        }
        catch (SocketException)
        {
            Console.WriteLine("closed");
        }
    }

    private sealed class Answering : IRequestHandler
    {
        public void Handle(IPeer peer, string method, JToken? parameters, Action<Answer> reply) =>
            reply(Answer.Result("yes"));

        public void Closed(IPeer peer)
        {
        }
    }

    private sealed class Silent : IBridgeLog
    {
        public void Info(string message)
        {
        }

        public void Warn(string message)
        {
        }
    }
}
