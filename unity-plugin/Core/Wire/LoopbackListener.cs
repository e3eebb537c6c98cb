#nullable enable
using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;

namespace JobBroker.Bridge.Wire
{
    /// <summary>A listening socket on loopback that only one process can hold.</summary>
    internal sealed class LoopbackListener
    {
        private const uint HandleFlagInherit = 1;

        /// <summary>
        /// A caller that finds the backlog full retries after a second: strangers must not delay the owner that long.
        /// </summary>
        private const int Backlog = 128;

        private readonly Socket socket;

        /// <summary>Listens at once; 0 takes any free port. Throws <see cref="PortTakenException"/>.</summary>
        public LoopbackListener(int port)
        {
            socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                // Windows lets two processes listen on one port unless this is set. Elsewhere the runtime has
                // already set SO_REUSEADDR (a port in TIME_WAIT is free again); setting it here would add
                // SO_REUSEPORT.
                if (OnWindows) socket.ExclusiveAddressUse = true;
                KeepFromChildren(socket);
                socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
                socket.Listen(Backlog);
            }
            catch (SocketException error)
            {
                socket.Close();
                if (error.SocketErrorCode == SocketError.AddressAlreadyInUse)
                {
                    throw new PortTakenException(port, "Port " + port + " is taken.", error);
                }
                if (error.SocketErrorCode == SocketError.AccessDenied)
                {
                    throw new PortTakenException(port, "The system does not permit port " + port + ".", error);
                }
                throw;
            }
            Port = ((IPEndPoint)socket.LocalEndPoint).Port;
        }

        public int Port { get; }

        /// <summary>
        /// Makes a socket and closes it. For the first one of a script domain, Mono lists the network's devices and reads its
        /// configuration, which takes as long as opening the ledger. Any thread.
        /// </summary>
        public static void Prepare() => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp).Close();

        private static bool OnWindows => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

        /// <summary>Waits for the next connection; null when none came in time, or it was gone at once.</summary>
        public Socket? Accept(int milliseconds)
        {
            if (!socket.Poll(milliseconds * 1000, SelectMode.SelectRead)) return null;
            Socket? accepted = null;
            try
            {
                accepted = socket.Accept();
                KeepFromChildren(accepted);
                accepted.NoDelay = true;
                accepted.Blocking = false;
                return accepted;
            }
            catch (SocketException)
            {
                accepted?.Close();
                // Without free handles the same connection would be offered again at once, and again.
                Thread.Sleep(10);
                return null;
            }
        }

        /// <summary>Waits for one, and takes those that came with it, so many at most.</summary>
        public List<Socket> AcceptAll(int milliseconds, int most)
        {
            var accepted = new List<Socket>();
            for (var next = Accept(milliseconds); next != null; next = accepted.Count < most ? Accept(0) : null)
            {
                accepted.Add(next);
            }
            return accepted;
        }

        public void Close() => socket.Close();

        /// <summary>
        /// A build's child process that inherited the handle would keep the port taken after we are gone.
        /// </summary>
        private static void KeepFromChildren(Socket socket)
        {
            // Elsewhere the runtime opens every socket so that it ends with exec.
            if (!OnWindows) return;
            try
            {
                SetHandleInformation(socket.Handle, HandleFlagInherit, 0);
            }
            catch (EntryPointNotFoundException)
            {
                // An older or unusual system: the port is then only free again when the child ends.
            }
        }

        [DllImport("kernel32.dll")]
        [return: MarshalAs(UnmanagedType.Bool)]
        private static extern bool SetHandleInformation(IntPtr handle, uint mask, uint flags);
    }
}
