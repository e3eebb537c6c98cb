#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using JobBroker.Bridge.Framing;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// The Editor's TCP side, on loopback only: frames and JSON-RPC in, answers and notifications out; independent of
    /// the methods. Requests of one connection reach the handler in their order; answers leave as they come. Every
    /// member may be called from any thread.
    /// </summary>
    public sealed class McpBridgeServer
    {
        private const int AcceptPollMs = 50;

        /// <summary>As many as the system keeps for us (<see cref="LoopbackListener"/>).</summary>
        private const int ArrivalsAtOnce = 128;

        /// <summary>The longest time that a new connection waits for the threads of the one that it replaces.</summary>
        private const int EndingMs = 100;

        /// <summary>The longest time that stopping gives peers to read the queued frames.</summary>
        private const int FlushMs = 150;

        private readonly object gate = new object();
        private readonly Dictionary<int, BridgeConnection> connections = new Dictionary<int, BridgeConnection>();
        private readonly Arrivals arrivals;
        private readonly IRequestHandler handler;
        private readonly WireLimits limits;
        private readonly IBridgeLog log;
        private readonly Func<bool> welcomesStrangers;
        private BridgeThread? accepting;
        private LoopbackListener? listener;
        private volatile bool stopping;
        private int lastId;

        public McpBridgeServer(IRequestHandler handler, int maxFrameBytes, IBridgeLog log)
            : this(handler, new WireLimits { FrameBytes = maxFrameBytes }, log)
        {
        }

        /// <param name="welcomesStrangers">
        /// While it returns true, connections without a proof are not timed out; null means never.
        /// </param>
        public McpBridgeServer(
            IRequestHandler handler, WireLimits limits, IBridgeLog log, Func<bool>? welcomesStrangers = null)
        {
            this.welcomesStrangers = welcomesStrangers ?? (() => false);
            this.handler = handler;
            this.limits = limits;
            this.log = log;
            arrivals = new Arrivals(log);
        }

        /// <summary>The port last listened on; 0 before the first time.</summary>
        public int Port { get; private set; }

        /// <summary>Includes connections that are being closed.</summary>
        public int ConnectionCount
        {
            get
            {
                lock (gate) return connections.Count;
            }
        }

        /// <summary>
        /// Listens; 0 takes any free port. Returns the port. Throws <see cref="PortTakenException"/>.
        /// </summary>
        public int Listen(int port)
        {
            lock (gate)
            {
                if (accepting != null) throw new InvalidOperationException("The server listens already.");
                var opened = new LoopbackListener(port);
                listener = opened;
                stopping = false;
                Port = opened.Port;
                accepting = BridgeThread.Start("accept", () => Accept(opened), AcceptingEnded);
                return Port;
            }
        }

        /// <summary>
        /// Listens on the first free port. Listening itself is the only test of a port without a race.
        /// </summary>
        public int ListenOnFirstFree(int first, int last)
        {
            for (var port = first; port <= last; port++)
            {
                try
                {
                    return Listen(port);
                }
                catch (PortTakenException)
                {
                    // The next one.
                }
            }
            throw new PortTakenException(last, "Every port from " + first + " to " + last + " is taken.");
        }

        /// <summary>Sends a notification to all admitted peers, and to strangers while they are welcome.</summary>
        public void Broadcast(string method, JObject parameters)
        {
            var frame = FrameParser.Encode(JsonRpcProcessor.Notification(method, parameters));
            foreach (var connection in Connections())
            {
                if (connection.IsAdmitted || welcomesStrangers()) connection.Send(frame, null, false);
            }
        }

        /// <summary>Aborts every connection without writing the queued frames; new ones are accepted.</summary>
        public void DropConnections()
        {
            foreach (var connection in Connections()) connection.Abort();
        }

        /// <summary>
        /// Stops listening, ends every connection after its queued frames, and joins every thread. True when all
        /// ended in time; only a handler that blocks can make it false. May be listened on again afterwards.
        /// </summary>
        public bool Stop(int milliseconds = 500)
        {
            var clock = Stopwatch.StartNew();
            int Left(int of) => (int)Math.Max(0, of - clock.ElapsedMilliseconds);

            stopping = true;
            var open = Connections();
            var flush = Math.Min(FlushMs, milliseconds / 3);
            foreach (var connection in open) connection.Close();
            foreach (var connection in open) connection.JoinWriting(Left(flush));
            foreach (var connection in open) connection.Abort();
            BridgeThread? acceptor;
            lock (gate) acceptor = accepting;
            var ended = acceptor == null || acceptor.Join(Left(milliseconds));
            foreach (var connection in open)
            {
                ended &= connection.JoinWriting(Left(milliseconds));
                ended &= connection.JoinReading(Left(milliseconds));
            }
            lock (gate)
            {
                listener?.Close();
                listener = null;
                accepting = null;
            }
            return ended;
        }

        private void Accept(LoopbackListener from)
        {
            try
            {
                while (!stopping)
                {
                    foreach (var socket in arrivals.OfThisUser(from.AcceptAll(AcceptPollMs, ArrivalsAtOnce))) Welcome(socket);
                    CutStrangers();
                }
            }
            finally
            {
                from.Close();
            }
        }

        private void Welcome(Socket socket)
        {
            lock (gate)
            {
                var hasRoom = MakeRoom();
                if (stopping)
                {
                    socket.Close();
                    return;
                }
                if (hasRoom)
                {
                    var connection = new BridgeConnection(++lastId, socket, handler, limits, log, Forget);
                    connections.Add(connection.Id, connection);
                    connection.Start();
                    return;
                }
            }
            Refuse(socket);
        }

        /// <summary>
        /// Aborts the oldest stranger when the limit is reached; false when all are proven. Called under the gate,
        /// which
        /// it leaves for a moment.
        /// </summary>
        private bool MakeRoom()
        {
            if (connections.Values.Count(one => !one.IsAborted) >= limits.Connections)
            {
                // Connections that are closing already go first.
                var first = connections.Values.Where(one => !one.IsAdmitted && !one.IsAborted)
                    .OrderBy(one => one.IsOpen).ThenBy(one => one.Id).FirstOrDefault();
                if (first == null) return false;
                first.Abort();
            }
            // An aborted connection still has two threads: wait for their end, so that a flood creates no more of them.
            if (connections.Count >= limits.Connections) Monitor.Wait(gate, EndingMs);
            return true;
        }

        private void CutStrangers()
        {
            if (limits.StrangerMs == 0 || welcomesStrangers()) return;
            foreach (var connection in Connections())
            {
                if (connection.StrangerForMs > limits.StrangerMs) connection.Abort();
            }
        }

        /// <summary>Sends the reason if the socket takes it at once; must not wait for the peer.</summary>
        private void Refuse(Socket socket)
        {
            var message = "This Editor has " + limits.Connections + " connections already; close one of them.";
            log.Warn("A connection was refused. " + message);
            var error = new RpcError(ErrorCodes.InvalidRequest, message);
            var frame = FrameParser.Encode(JsonRpcProcessor.Failure(null, error));
            try
            {
                socket.Send(frame, 0, frame.Length, SocketFlags.None, out _);
                socket.Shutdown(SocketShutdown.Send);
                // Unread input would reset the socket on close, and the reason would be lost.
                socket.Receive(new byte[4096], 0, 4096, SocketFlags.None, out _);
            }
            catch (SocketException)
            {
                // Gone already.
            }
            socket.Close();
        }

        private void AcceptingEnded(Exception error) => log.Warn("The bridge stopped listening: " + error);

        private void Forget(BridgeConnection connection)
        {
            lock (gate)
            {
                connections.Remove(connection.Id);
                Monitor.PulseAll(gate);
            }
        }

        private List<BridgeConnection> Connections()
        {
            lock (gate) return new List<BridgeConnection>(connections.Values);
        }
    }
}
