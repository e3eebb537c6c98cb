#nullable enable
using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Push;

/// <summary>A worker's push server: keeps the pushes of each connection.</summary>
internal sealed class PushListener : IDisposable
{
    private readonly TcpListener listener;
    private readonly ConcurrentBag<TcpClient> clients = [];

    /// <param name="reads">False: it accepts and never reads.</param>
    public PushListener(int port = 0, bool reads = true)
    {
        listener = new TcpListener(IPAddress.Loopback, port);
        if (!reads) listener.Server.ReceiveBufferSize = 4096;
        listener.Start();
        Port = ((IPEndPoint)listener.LocalEndpoint).Port;
        _ = Accept(reads);
    }

    public int Port { get; }

    /// <summary>`connection type` of each line, in the order in which they came.</summary>
    public ConcurrentQueue<string> Received { get; } = new();

    public ConcurrentQueue<JObject> Lines { get; } = new();

    public int Connections;

    public int Ended;

    public void CutConnections()
    {
        foreach (var client in clients) client.Dispose();
    }

    public void Dispose()
    {
        listener.Stop();
        CutConnections();
    }

    private async Task Accept(bool reads)
    {
        try
        {
            while (true)
            {
                var client = await listener.AcceptTcpClientAsync();
                clients.Add(client);
                var number = Interlocked.Increment(ref Connections);
                if (reads) _ = Read(client, number);
            }
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Disposed.
        }
    }

    private async Task Read(TcpClient client, int number)
    {
        try
        {
            using var reader = new StreamReader(client.GetStream(), Encoding.UTF8);
            while (await reader.ReadLineAsync() is { } line)
            {
                var settings = new JsonSerializerSettings { DateParseHandling = DateParseHandling.None };
                var read = JsonConvert.DeserializeObject<JObject>(line, settings)!;
                Lines.Enqueue(read);
                Received.Enqueue(number + " " + (string)read["type"]!);
            }
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // Cut.
        }
        Interlocked.Increment(ref Ended);
    }
}
