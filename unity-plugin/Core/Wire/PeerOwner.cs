#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// Which user's process is at the other end of a TCP connection on this machine, if the system reports it: Linux
    /// lists every socket with its user in /proc/net/tcp and tcp6 (proc(5)). Elsewhere, over IPv6, and for peers in
    /// other network namespaces it is unknown. Any thread.
    /// </summary>
    internal static class PeerOwner
    {
        /// <summary>
        /// A socket that is listed but belongs to no process, because its process closed it. Its line then often shows
        /// user 0. No user has this number.
        /// </summary>
        public const uint Nobody = uint.MaxValue;

        /// <summary>Behind both ends, the state, the queues, the timer and the retransmissions.</summary>
        private const int UserField = 6;

        /// <summary>Behind the user and the probes; 0 for a socket of no process.</summary>
        private const int InodeField = 8;

        private static readonly string[] Files = { "/proc/net/tcp", "/proc/net/tcp6" };

        /// <summary>As they are now; none where the system has none.</summary>
        public static IReadOnlyList<string> ReadTables()
        {
            var tables = new List<string>();
            if (!RuntimeInformation.IsOSPlatform(OSPlatform.Linux)) return tables;
            foreach (var file in Files)
            {
                try
                {
                    tables.Add(File.ReadAllText(file));
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
                {
                    // A machine without that protocol.
                }
            }
            return tables;
        }

        /// <summary>
        /// Whether the caller certainly belongs to a user other than this one and root (which can read every token
        /// anyway), or has already closed its end: then it waits for no answer, and its user can no longer be
        /// determined.
        /// </summary>
        /// <param name="own">The end of this process, which listens there.</param>
        /// <param name="tables">Read after the connection was accepted.</param>
        public static bool IsAnotherUsers(IPEndPoint own, IPEndPoint peer, IReadOnlyList<string> tables)
        {
            if (OwnerOf(own, peer, tables) is { } owner) return owner == Nobody || (owner != geteuid() && owner != 0);
            // Absent from a complete list of this machine: the connection was reset.
            return IPAddress.IsLoopback(peer.Address) && tables.Any(table => HasListener(table, own));
        }

        /// <summary>Null where no table has it.</summary>
        public static uint? OwnerOf(IPEndPoint own, IPEndPoint peer, IReadOnlyList<string> tables) =>
            tables.Select(table => OwnerIn(table, own, peer)).FirstOrDefault(owner => owner != null);

        /// <summary>
        /// The user of the peer's socket, or <see cref="Nobody"/>; null where this table does not have it.
        /// </summary>
        /// <param name="table">The text of /proc/net/tcp or tcp6.</param>
        public static uint? OwnerIn(string table, IPEndPoint own, IPEndPoint peer)
        {
            // Searched as text: a table may have thousands of lines, and other users control how many. In any state: a
            // half-closed socket still belongs to its user.
            foreach (var ends in FormsOf(peer).Zip(FormsOf(own), (local, remote) => " " + local + " " + remote + " "))
            {
                var at = table.IndexOf(ends, StringComparison.Ordinal);
                if (at < 0) continue;
                var end = table.IndexOf('\n', at);
                var line = end < 0 ? table.Substring(at) : table.Substring(at, end - at);
                var fields = line.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
                if (fields.Length <= InodeField) continue;
                if (fields[InodeField] == "0") return Nobody;
                if (uint.TryParse(fields[UserField], NumberStyles.None, CultureInfo.InvariantCulture, out var user)) return user;
            }
            return null;
        }

        private static bool HasListener(string table, IPEndPoint end) =>
            FormsOf(end).Any(form => table.IndexOf(" " + form + " 00000000:0000 0A ", StringComparison.Ordinal) >= 0);

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
