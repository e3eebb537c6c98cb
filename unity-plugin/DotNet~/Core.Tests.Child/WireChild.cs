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

    /// <summary>Sends so many requests, each on a connection that it leaves at once.</summary>
    public static void Leave(int port, int times)
    {
        for (var time = 0; time < times; time++)
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(IPAddress.Loopback, port);
            socket.Send(FrameParser.Encode(JsonRpcProcessor.Request(1, "left", null)));
        }
        Console.WriteLine("left");
    }

    /// <summary>Says how many of those requests were handled.</summary>
    public static void Heard(int port)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(IPAddress.Loopback, port);
        socket.Send(FrameParser.Encode(JsonRpcProcessor.Request(1, "heard", null)));
        var answer = new byte[1024];
        var parser = new FrameParser();
        Frame frame;
        do parser.Push(answer, 0, socket.Receive(answer));
        while (!parser.TryNext(out frame));
        Console.WriteLine(JObject.Parse(frame.Text)["result"]);
    }

    private sealed class Answering : IRequestHandler
    {
        private int left;

        public void Handle(IPeer peer, string method, JToken? parameters, Action<Answer> reply)
        {
            if (method == "left") Interlocked.Increment(ref left);
            reply(Answer.Result(method == "heard" ? left : "yes"));
        }

        public void Notified(IPeer peer, string method, JToken? parameters)
        {
        }

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
