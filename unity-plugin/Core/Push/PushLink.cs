#nullable enable
using System;
using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using JobBroker.Bridge.Wire;

namespace JobBroker.Bridge.Push
{
    /// <summary>One TCP connection to a push server. Used by one thread; no call takes longer than its limit.</summary>
    internal sealed class PushLink
    {
        private const int PollMs = 50;

        private readonly Socket socket;

        private PushLink(Socket socket, PushEndpoint to)
        {
            this.socket = socket;
            To = to;
        }

        public PushEndpoint To { get; }

        /// <summary>
        /// Connects; null when the connection is refused, takes too long, or <paramref name="givenUp"/> returns true.
        /// </summary>
        public static PushLink? Open(PushEndpoint to, int milliseconds, Func<bool> givenUp)
        {
            var socket = new Socket(to.Address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                socket.NoDelay = true;
                socket.Blocking = false;
                try
                {
                    socket.Connect(to.Address);
                }
                catch (SocketException error) when (IsForNow(error.SocketErrorCode))
                {
                    // Under way.
                }
                var clock = Stopwatch.StartNew();
                while (!socket.Poll(PollMs * 1000, SelectMode.SelectWrite))
                {
                    if (clock.ElapsedMilliseconds <= milliseconds && !givenUp()) continue;
                    socket.Close();
                    return null;
                }
                var problem = (int)socket.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.Error);
                if (problem == 0) return new PushLink(socket, to);
            }
            catch (SocketException)
            {
                // Connection refused.
            }
            socket.Close();
            return null;
        }

        /// <summary>Whether the connection still stands, as far as can be known without writing.</summary>
        public bool IsAlive()
        {
            try
            {
                // Data from a push server is ignored; only the end of the connection matters.
                var ignored = new byte[1024];
                while (socket.Poll(0, SelectMode.SelectRead))
                {
                    var count = socket.Receive(ignored, 0, ignored.Length, SocketFlags.None, out var error);
                    if (count == 0) return IsForNow(error);
                    if (count < ignored.Length) return true;
                }
                return true;
            }
            catch (SocketException)
            {
                return false;
            }
        }

        /// <summary>
        /// False when the connection is gone, accepts no bytes for too long, or <paramref name="givenUp"/> returns
        /// true.
        /// </summary>
        public bool Write(string line, int milliseconds, Func<bool> givenUp)
        {
            var bytes = Encoding.UTF8.GetBytes(line);
            var stalled = Stopwatch.StartNew();
            try
            {
                for (var at = 0; at < bytes.Length;)
                {
                    var sent = SomeBytes.Send(socket, bytes, at, bytes.Length - at, out var error);
                    if (error != SocketError.Success && !IsForNow(error)) return false;
                    at += sent;
                    if (sent > 0) stalled.Restart();
                    if (at == bytes.Length) return true;
                    if (stalled.ElapsedMilliseconds > milliseconds || givenUp()) return false;
                    socket.Poll(PollMs * 1000, SelectMode.SelectWrite);
                }
                return true;
            }
            catch (SocketException)
            {
                return false;
            }
        }

        public void Close()
        {
            try
            {
                socket.Shutdown(SocketShutdown.Both);
            }
            catch (SocketException)
            {
                // Gone already.
            }
            socket.Close();
        }

        private static bool IsForNow(SocketError error) =>
            error == SocketError.WouldBlock || error == SocketError.IOPending || error == SocketError.InProgress
            || error == SocketError.Interrupted;
    }
}
