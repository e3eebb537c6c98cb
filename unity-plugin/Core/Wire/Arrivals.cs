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

        private const int ReportIntervalMs = 60_000;

        private readonly IBridgeLog log;
        private Stopwatch? sinceReport;

        public Arrivals(IBridgeLog log)
        {
            this.log = log;
        }

        /// <summary>
        /// The connections that do not belong to another user; the others are closed unread. The system's socket list
        /// has a line per socket, and other users control how many there are: all connections that arrived share one
        /// reading, and reading takes at most half of this thread's time.
        /// </summary>
        public List<Socket> OfThisUser(List<Socket> arrived)
        {
            if (arrived.Count == 0) return arrived;
            var clock = Stopwatch.StartNew();
            var own = OfThisUser(arrived, PeerOwner.ReadTables());
            // The list is no snapshot: while sockets come and go, a reading may miss an existing one.
            if (own.Count < arrived.Count) own.AddRange(OfThisUser(arrived.Except(own), PeerOwner.ReadTables()));
            foreach (var socket in arrived.Except(own)) socket.Close();
            if (own.Count < arrived.Count) Report();
            var took = clock.ElapsedMilliseconds;
            if (took >= SlowLookMs) Thread.Sleep((int)Math.Min(took, LongestRestMs));
            return own;
        }

        private static List<Socket> OfThisUser(IEnumerable<Socket> sockets, IReadOnlyList<string> tables) =>
            sockets.Where(socket => IsOfThisUser(socket, tables)).ToList();

        /// <summary>Also false for a connection that ended before it could be checked.</summary>
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

        /// <summary>At most once a minute: other users must not fill this user's log.</summary>
        private void Report()
        {
            if (sinceReport != null && sinceReport.ElapsedMilliseconds < ReportIntervalMs) return;
            sinceReport = Stopwatch.StartNew();
            log.Warn("A connection of another user of this machine, or one that its caller had already closed, was refused.");
        }
    }
}
