#nullable enable
using JobBroker.Bridge.Framing;

namespace JobBroker.Bridge.Wire
{
    /// <summary>Limits on the memory, threads and time that peers may use.</summary>
    public sealed class WireLimits
    {
        /// <summary>
        /// Bytes of a body that a peer may send; longer ones are answered FRAME_TOO_LARGE and skipped.
        /// </summary>
        public int FrameBytes { get; set; } = FrameParser.DefaultMaxBytes;

        /// <summary>Bytes that may be queued for one peer; beyond that the connection is closed.</summary>
        public int OutboundBytes { get; set; } = 64 * 1024 * 1024;

        /// <summary>
        /// Each connection costs two threads. One more replaces the oldest stranger; when all are proven, it is refused
        /// with a message.
        /// </summary>
        public int Connections { get; set; } = 32;

        /// <summary>
        /// Milliseconds within which a connection must prove that it holds the token; 0 for no limit.
        /// </summary>
        public int StrangerMs { get; set; }

        /// <summary>Milliseconds without progress after which a peer that does not read is closed.</summary>
        public int StallMs { get; set; } = 30000;

        /// <summary>The same once the connection is to be closed.</summary>
        public int ClosingStallMs { get; set; } = 1000;

        /// <summary>
        /// Milliseconds for the peer to end its side after the last byte; an earlier close could take that byte back.
        /// </summary>
        public int LingerMs { get; set; } = 500;
    }
}
