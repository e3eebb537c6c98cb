#nullable enable
using System;
using System.Net;
using System.Net.Sockets;
using JobBroker.Bridge.Framing;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

/// <summary>A peer with a bare socket.</summary>
internal sealed class WireClient : IDisposable
{
    private readonly FrameParser parser = new(64 * 1024 * 1024);
    private readonly byte[] chunk = new byte[64 * 1024];

    public WireClient(int port, int receiveBuffer = 0)
    {
        Socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        Socket.NoDelay = true;
        Socket.ReceiveTimeout = 20_000;
        if (receiveBuffer > 0) Socket.ReceiveBufferSize = receiveBuffer;
        Socket.Connect(IPAddress.Loopback, port);
    }

    public Socket Socket { get; }

    public void Raw(byte[] bytes) => Socket.Send(bytes);

    public void Raw(string text) => Raw(System.Text.Encoding.UTF8.GetBytes(text));

    public void Text(string json) => Raw(FrameParser.Encode(json));

    public void Request(int id, string method, JToken? parameters = null) =>
        Text(JobBroker.Bridge.Wire.JsonRpcProcessor.Request(id, method, parameters));

    /// <summary>The next message; null when the connection ended (also by a reset).</summary>
    public JObject? Next()
    {
        while (true)
        {
            if (parser.TryNext(out var frame))
            {
                Assert.Equal(FrameKind.Message, frame.Kind);
                return JObject.Parse(frame.Text);
            }
            int count;
            try
            {
                count = Socket.Receive(chunk);
            }
            catch (SocketException error) when (error.SocketErrorCode == SocketError.ConnectionReset)
            {
                return null;
            }
            if (count == 0) return null;
            parser.Push(chunk, 0, count);
        }
    }

    /// <summary>The answer to a request; skips notifications.</summary>
    public JObject Answer(int id)
    {
        while (true)
        {
            var message = Next() ?? throw new InvalidOperationException("The connection ended before the answer came.");
            if ((int?)message["id"] == id) return message;
        }
    }

    /// <summary>True when the other side ends the connection, whatever it says before.</summary>
    public bool Ends()
    {
        while (Next() != null)
        {
        }
        return true;
    }

    public void Dispose() => Socket.Dispose();
}
