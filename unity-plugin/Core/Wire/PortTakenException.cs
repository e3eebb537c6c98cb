#nullable enable
using System;

namespace JobBroker.Bridge.Wire
{
    /// <summary>Another process listens on the port, or the system reserves it.</summary>
    public sealed class PortTakenException : Exception
    {
        public PortTakenException(int port, string message, Exception? cause = null)
            : base(message, cause)
        {
            Port = port;
        }

        public int Port { get; }
    }
}
