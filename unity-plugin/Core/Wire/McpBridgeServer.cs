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
    /// The Editor's TCP side, on loopback only: frames and JSON-RPC in, answers and notifications out; it knows no
    /// method by name. Requests of one connection reach the handler in their order; answers leave as they come. Every
    /// member may be called from any thread.
    /// </summary>
    public sealed class McpBridgeServer
    {
        private const int AcceptPollMs = 50;

        /// <summary>As many as the system keeps for us (<see cref="LoopbackListener"/>).</summary>
        private const int ArrivalsAtOnce = 128;

        /// <summary>How long a newcomer waits for the threads of whoever gave way to it, at most.</summary>
        private const int EndingMs = 100;

        /// <summary>How long stopping lets peers take what was said before, at most.</summary>
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

        /// <param name="welcomesStrangers">While true nobody's time to prove anything is limited; null never is.</param>
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

        /// <summary>Also those that are being closed.</summary>
        public int ConnectionCount
        {
            get
            {
                lock (gate) return connections.Count;
            }
        }

        /// <summary>
        /// Listens; 0 takes any free port. Answers the port. Throws <see cref="PortTakenException"/>.
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
        /// Listens on the first free port: listening is the only test of a port that nobody can overtake.
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

        /// <summary>Tells everybody who is admitted, and strangers while they are welcome.</summary>
        public void Broadcast(string method, JObject parameters)
        {
            var frame = FrameParser.Encode(JsonRpcProcessor.Notification(method, parameters));
            foreach (var connection in Connections())
            {
                if (connection.IsAdmitted || welcomesStrangers()) connection.Send(frame, null, false);
            }
        }

        /// <summary>Ends every connection without writing what waits; new ones are welcome.</summary>
        public void DropConnections()
        {
            foreach (var connection in Connections()) connection.Abort();
        }

        /// <summary>
        /// Stops listening, ends every connection behind what was said before, and joins every thread. True when all
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
        /// Cuts the oldest stranger off where there is no room; false when all are proven. Called under the gate, which
        /// it leaves for a moment.
        /// </summary>
        private bool MakeRoom()
        {
            if (connections.Values.Count(one => !one.IsAborted) >= limits.Connections)
            {
                // Those that are told why they are closed first: they have lost already.
                var first = connections.Values.Where(one => !one.IsAdmitted && !one.IsAborted)
                    .OrderBy(one => one.IsOpen).ThenBy(one => one.Id).FirstOrDefault();
                if (first == null) return false;
                first.Abort();
            }
            // Two threads of each are still there: whoever comes waits for that, so that a flood makes no more of them.
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

        /// <summary>Tells the reason if the peer listens; nothing here may wait for it.</summary>
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
                // What is unread when a socket closes resets it, and the reason with it.
                socket.Receive(new byte[4096], 0, 4096, SocketFlags.None, out _);
            }
            catch (SocketException)
            {
                // Gone already.
            }
            socket.Close();
        }

        private void AcceptingEnded(Exception error) => log.Warn("Nobody listens any more: " + error);

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
