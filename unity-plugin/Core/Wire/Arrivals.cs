#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// Closes connections of other users of this machine before they are read. Used by one thread, which accepts.
    /// </summary>
    internal sealed class Arrivals
    {
        private const int SlowLookMs = 5;

        private const int LongestRestMs = 100;

        private const int TellMs = 60_000;

        private readonly IBridgeLog log;
        private Stopwatch? sinceTold;

        public Arrivals(IBridgeLog log)
        {
            this.log = log;
        }

        /// <summary>
        /// Those that are not another user's; the others are closed, unread. The system's list of connections has a line for
        /// each of the machine, and others decide how many there are: it is read once for all that have come, and reading it
        /// takes half of this thread's time at most.
        /// </summary>
        public List<Socket> OfThisUser(List<Socket> arrived)
        {
            if (arrived.Count == 0) return arrived;
            var clock = Stopwatch.StartNew();
            var own = OfThisUser(arrived, PeerOwner.ReadTables());
            // The list is no snapshot: while sockets come and go, a reading of it may leave out one that stands.
            if (own.Count < arrived.Count) own.AddRange(OfThisUser(arrived.Except(own), PeerOwner.ReadTables()));
            foreach (var socket in arrived.Except(own)) socket.Close();
            if (own.Count < arrived.Count) Tell();
            var took = clock.ElapsedMilliseconds;
            if (took >= SlowLookMs) Thread.Sleep((int)Math.Min(took, LongestRestMs));
            return own;
        }

        private static List<Socket> OfThisUser(IEnumerable<Socket> sockets, IReadOnlyList<string> tables) =>
            sockets.Where(socket => IsOfThisUser(socket, tables)).ToList();

        /// <summary>False as well for a connection that has ended before anybody could look.</summary>
        private static bool IsOfThisUser(Socket socket, IReadOnlyList<string> tables)
        {
            try
            {
                return !PeerOwner.IsAnotherUsers(
                    (IPEndPoint)socket.LocalEndPoint, (IPEndPoint)socket.RemoteEndPoint, tables);
            }
            catch (SocketException)
            {
                return false;
            }
        }

        /// <summary>Once a minute at most: nobody else may fill this user's log.</summary>
        private void Tell()
        {
            if (sinceTold != null && sinceTold.ElapsedMilliseconds < TellMs) return;
            sinceTold = Stopwatch.StartNew();
            log.Warn("A connection of another user of this machine, or one that its caller had left, was closed.");
        }
    }
}
