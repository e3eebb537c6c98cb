#nullable enable
using System;
using System.Diagnostics;
using System.Net.Sockets;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// Writes whole frames to a non-blocking socket. One thread writes; any thread may call <see cref="AwaitSettled"/>.
    /// </summary>
    internal sealed class FrameWriter
    {
        /// <summary>Milliseconds after which a waiting thread checks whether to end.</summary>
        public const int PollMs = 100;

        private readonly object settling = new object();
        private readonly int id;
        private readonly Socket socket;
        private readonly WireLimits limits;
        private readonly IBridgeLog log;
        private readonly Func<bool> aborted;
        private readonly Func<bool> closing;

        public FrameWriter(
            int id,
            Socket socket,
            WireLimits limits,
            IBridgeLog log,
            Func<bool> aborted,
            Func<bool> closing)
        {
            this.id = id;
            this.socket = socket;
            this.limits = limits;
            this.log = log;
            this.aborted = aborted;
            this.closing = closing;
        }

        /// <summary>
        /// Writes a frame and runs its continuation; false when the connection is gone, or the peer accepts no bytes
        /// for too long.
        ///
        /// No peer can have read an answer before its last byte is sent. So only that byte and the continuation are one
        /// step: a peer that reads slowly must not delay its own requests.
        /// </summary>
        public bool Write(OutboundQueue.Outgoing next)
        {
            var bytes = next.Bytes;
            if (next.Afterwards == null) return WritePart(bytes, 0, bytes.Length, null);
            return WritePart(bytes, 0, bytes.Length - 1, null)
                && WritePart(bytes, bytes.Length - 1, bytes.Length, next.Afterwards);
        }

        /// <summary>Returns once the continuation of every answer that the peer can have read has run.</summary>
        public void AwaitSettled()
        {
            lock (settling) { }
        }

        /// <summary>Whether the error is transient.</summary>
        public static bool IsForNow(SocketError error) =>
            error == SocketError.WouldBlock || error == SocketError.IOPending || error == SocketError.Interrupted;

        private bool WritePart(byte[] bytes, int at, int end, Action? afterwards)
        {
            var stalled = Stopwatch.StartNew();
            while (at < end)
            {
                if (aborted()) return false;
                var sent = SendNow(bytes, at, end - at, afterwards);
                if (sent < 0) return false;
                at += sent;
                if (sent > 0) stalled.Restart();
                if (at == end) return true;
                if (stalled.ElapsedMilliseconds > (closing() ? limits.ClosingStallMs : limits.StallMs))
                {
                    log.Warn("Connection " + id + " took nothing for " + stalled.ElapsedMilliseconds + " ms. Closed.");
                    return false;
                }
                socket.Poll(PollMs * 1000, SelectMode.SelectWrite);
            }
            return true;
        }

        /// <summary>The number of bytes sent; -1 when the connection is gone.</summary>
        private int SendNow(byte[] bytes, int at, int count, Action? afterwards)
        {
            lock (settling)
            {
                var sent = SomeBytes.Send(socket, bytes, at, count, out var error);
                if (error != SocketError.Success && !IsForNow(error)) return -1;
                if (sent > 0 && afterwards != null) RunAfterwards(afterwards);
                return sent;
            }
        }

        private void RunAfterwards(Action afterwards)
        {
            try
            {
                afterwards();
            }
            catch (Exception error)
            {
                log.Warn("The continuation of an answer threw " + error);
            }
        }
    }
}
