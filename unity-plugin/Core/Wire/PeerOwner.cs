#nullable enable
using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// Whose process is at the other end of a TCP connection of this machine, where the system tells it: Linux lists every
    /// socket with its user in /proc/net/tcp and tcp6 (proc(5)). Elsewhere, over IPv6, and for peers in other network
    /// namespaces, nobody knows. Any thread.
    /// </summary>
    internal static class PeerOwner
    {
        /// <summary>Behind both ends, the state, the queues, the timer and the retransmissions.</summary>
        private const int UserField = 6;

        private static readonly string[] Tables = { "/proc/net/tcp", "/proc/net/tcp6" };

        /// <summary>
        /// Whether the peer is certainly the process of a user who is neither this one nor root, who reads every token
        /// anyway.
        /// </summary>
        /// <param name="own">The end of this process.</param>
        public static bool IsAnotherUsers(IPEndPoint own, IPEndPoint peer)
        {
            if (!RuntimeInformation.IsOSPlatform(OSPlatform.Linux)) return false;
            return OwnerOf(own, peer) is { } owner && owner != geteuid() && owner != 0;
        }

        /// <summary>The user of the peer's socket; null where this table does not have it.</summary>
        /// <param name="table">The text of /proc/net/tcp or tcp6.</param>
        public static uint? OwnerIn(string table, IPEndPoint own, IPEndPoint peer)
        {
            // Looked for as it is written: a table may have thousands of lines, and somebody may want it to. In every state:
            // a peer that has half closed its side may still be read. One that has closed it is listed without its user,
            // as 0.
            foreach (var ends in FormsOf(peer).Zip(FormsOf(own), (local, remote) => " " + local + " " + remote + " "))
            {
                var at = table.IndexOf(ends, StringComparison.Ordinal);
                if (at < 0) continue;
                var end = table.IndexOf('\n', at);
                var line = end < 0 ? table.Substring(at) : table.Substring(at, end - at);
                var fields = line.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
                if (fields.Length <= UserField) continue;
                if (uint.TryParse(fields[UserField], NumberStyles.None, CultureInfo.InvariantCulture, out var user)) return user;
            }
            return null;
        }

        /// <summary>Null where the system does not tell.</summary>
        public static uint? OwnerOf(IPEndPoint own, IPEndPoint peer)
        {
            foreach (var table in Tables)
            {
                try
                {
                    if (OwnerIn(File.ReadAllText(table), own, peer) is { } owner) return owner;
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
                {
                    // A machine without that protocol.
                }
            }
            return null;
        }

        /// <summary>
        /// IPv4 as the tables write it: the address is one word in the machine's order; in tcp6 it is wrapped.
        /// </summary>
        private static string[] FormsOf(IPEndPoint end)
        {
            var address = end.Address.IsIPv4MappedToIPv6 ? end.Address.MapToIPv4() : end.Address;
            if (address.AddressFamily != AddressFamily.InterNetwork) return Array.Empty<string>();
            var bytes = address.GetAddressBytes();
            if (BitConverter.IsLittleEndian) Array.Reverse(bytes);
            var word = string.Concat(bytes.Select(one => one.ToString("X2", CultureInfo.InvariantCulture)));
            var form = word + ":" + end.Port.ToString("X4", CultureInfo.InvariantCulture);
            return new[] { form, "0000000000000000FFFF0000" + form };
        }

        [DllImport("libc")]
        private static extern uint geteuid();
    }
}
