#nullable enable
using System;
using System.Net.Sockets;

namespace JobBroker.Bridge.Wire
{
    /// <summary>Sends what a non-blocking socket takes at once.</summary>
    internal static class SomeBytes
    {
        /// <summary>
        /// The number of bytes that were taken, 0 when there is no room. Some runtimes report a partial send together with
        /// "would block"; only the count is reliable.
        ///
        /// As a list of one: with an array, Mono asks again without a pause until everything was taken, however long the peer
        /// does not read.
        /// </summary>
        public static int Send(Socket socket, byte[] bytes, int at, int count, out SocketError error) =>
            socket.Send(new[] { new ArraySegment<byte>(bytes, at, count) }, SocketFlags.None, out error);
    }
}
