#nullable enable
using System;

namespace JobBroker.Bridge.Wire
{
    /// <summary>Somebody else listens on the port, or the system keeps it for somebody else.</summary>
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
