#nullable enable
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Wire;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

public sealed class PeerOwnerTests
{
    private const string Head =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    private static readonly IPEndPoint Own = IPEndPoint.Parse("127.0.0.1:8700");
    private static readonly IPEndPoint Peer = IPEndPoint.Parse("127.0.0.1:40000");

    private static string Line(string local, string remote, string state, int user, int inode = 52831) =>
        $"   1: {local} {remote} {state} 00000000:00000000 00:00000000 00000000  {user}        0 {inode} 1 0000000000000000 20 4 30 10 -1\n";

    // Both columns as an x86 or ARM machine writes them.
    private static string Table(string state = "01", int user = 1001) =>
        Head
        + Line("0100007F:21FC", "00000000:0000", "0A", 1000)
        + Line("0100007F:21FC", "0100007F:9C40", "01", 1000)
        + Line("0100007F:9C41", "0100007F:21FC", "01", 1003)
        + Line("0100007F:9C40", "0100007F:21FC", state, user);

    [Fact]
    public void The_user_is_that_of_the_other_end() => Assert.Equal(1001u, PeerOwner.OwnerIn(Table(), Own, Peer));

    [Fact]
    public void A_peer_that_has_half_closed_its_side_is_found() =>
        Assert.Equal(1001u, PeerOwner.OwnerIn(Table(state: "05"), Own, Peer));

    [Fact]
    public void A_wrapped_address_is_found_in_the_other_table()
    {
        const string wrapped = "0000000000000000FFFF00000100007F";
        var table = Head + Line(wrapped + ":9C40", wrapped + ":21FC", "01", 1001);
        Assert.Equal(1001u, PeerOwner.OwnerIn(table, Own, Peer));
        var mapped = new IPEndPoint(IPAddress.Loopback.MapToIPv6(), 40000);
        Assert.Equal(1001u, PeerOwner.OwnerIn(Table(), Own, mapped));
    }

    [Fact]
    public void Nobody_knows_who_is_not_listed()
    {
        Assert.Null(PeerOwner.OwnerIn(Table(), Own, IPEndPoint.Parse("127.0.0.1:40002")));
        Assert.Null(PeerOwner.OwnerIn(Table(), Own, IPEndPoint.Parse("127.0.0.2:40000")));
        Assert.Null(PeerOwner.OwnerIn(Table(), IPEndPoint.Parse("127.0.0.1:8701"), Peer));
        Assert.Null(PeerOwner.OwnerIn(Table(), Own, new IPEndPoint(IPAddress.IPv6Loopback, 40000)));
        foreach (var text in new[] { "", Head, "nonsense\nmore of it", Head + "   1: 0100007F:9C40 0100007F:21FC 01" })
        {
            Assert.Null(PeerOwner.OwnerIn(text, Own, Peer));
        }
    }

    [Fact]
    public void A_call_that_was_left_is_nobodys()
    {
        // Older systems list it as root's, newer ones do after a moment.
        var left = Head + Line("0100007F:9C40", "0100007F:21FC", "05", 0, 0);
        Assert.Equal(PeerOwner.Nobody, PeerOwner.OwnerIn(left, Own, Peer));
        Assert.True(PeerOwner.IsAnotherUsers(Own, Peer, new[] { left }));
        // Reset: this machine's list has it no more. Of another machine's nothing is known.
        var reset = Head + Line("0100007F:21FC", "00000000:0000", "0A", 1000);
        Assert.True(PeerOwner.IsAnotherUsers(Own, Peer, new[] { reset }));
        Assert.False(PeerOwner.IsAnotherUsers(Own, IPEndPoint.Parse("192.0.2.7:40000"), new[] { reset }));
        Assert.False(PeerOwner.IsAnotherUsers(Own, Peer, new[] { Head }));
    }

    [LinuxTheory]
    [InlineData(AddressFamily.InterNetwork)]
    [InlineData(AddressFamily.InterNetworkV6)]
    public void The_systems_own_tables_name_the_user_of_a_real_connection(AddressFamily family)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new Socket(family, SocketType.Stream, ProtocolType.Tcp);
        if (family == AddressFamily.InterNetworkV6) client.DualMode = true;
        client.Connect((IPEndPoint)listener.LocalEndpoint);
        using var accepted = listener.AcceptSocket();
        var own = (IPEndPoint)accepted.LocalEndPoint!;
        var peer = (IPEndPoint)accepted.RemoteEndPoint!;
        Assert.Equal(Me(), PeerOwner.OwnerOf(own, peer, PeerOwner.ReadTables()));
        client.Shutdown(SocketShutdown.Send);
        Assert.Equal(Me(), PeerOwner.OwnerOf(own, peer, PeerOwner.ReadTables()));
        Assert.False(PeerOwner.IsAnotherUsers(own, peer, PeerOwner.ReadTables()));
        client.Close();
        Assert.True(PeerOwner.IsAnotherUsers(own, peer, PeerOwner.ReadTables()));
    }

    [SeveralUsersFact]
    public void Another_user_of_the_machine_is_not_even_read()
    {
        using var server = As(65534, "wire-serve");
        var port = server.Line();
        Assert.Equal("answered", As(65534, "wire-ask", port).Line());
        Assert.Equal("closed", As(65533, "wire-ask", port).Line());
        Assert.Equal("closed", As(65533, "wire-ask", port, "and half close").Line());
        // Root reads every token anyway.
        Assert.Equal("answered", ChildProcess.Start("wire-ask", port).Line());
        Assert.Equal("answered", As(65534, "wire-ask", port, "and half close").Line());
        // Said and left at once: nobody reads that either, also where the system has forgotten whose it was.
        Assert.Equal("left", As(65533, "wire-leave", port).Line());
        Assert.Equal("0", As(65534, "wire-heard", port).Line());
    }

    [SeveralUsersFact]
    public void An_Editor_of_root_is_as_closed_to_other_users()
    {
        using var server = ChildProcess.Start("wire-serve");
        var port = server.Line();
        Assert.Equal("answered", ChildProcess.Start("wire-ask", port).Line());
        Assert.Equal("closed", As(65534, "wire-ask", port).Line());
    }

    private static ChildProcess As(int user, params string[] command) => ChildProcess.Start(
        "setpriv",
        new[] { $"--reuid={user}", $"--regid={user}", "--clear-groups", TestRuntime.Program, ChildProcess.Assembly }
            .Concat(command));

    private static uint Me() => uint.Parse(
        File.ReadLines("/proc/self/status").Single(line => line.StartsWith("Uid:")).Split('\t')[2]);

    private sealed class LinuxTheoryAttribute : TheoryAttribute
    {
        public LinuxTheoryAttribute()
        {
            if (!OperatingSystem.IsLinux()) Skip = "Only Linux reports the user of a connection.";
        }
    }

    private sealed class SeveralUsersFactAttribute : FactAttribute
    {
        public SeveralUsersFactAttribute()
        {
            if (!OperatingSystem.IsLinux() || Environment.UserName != "root")
            {
                Skip = "Only root may start a process as another user, and only Linux reports the user of a connection.";
            }
        }
    }
}
