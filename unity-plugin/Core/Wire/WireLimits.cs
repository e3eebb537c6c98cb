#nullable enable
using JobBroker.Bridge.Framing;

namespace JobBroker.Bridge.Wire
{
    /// <summary>What one peer may take of the Editor's memory, threads and time.</summary>
    public sealed class WireLimits
    {
        /// <summary>
        /// Bytes of a body that a peer may send; longer ones are answered FRAME_TOO_LARGE and skipped.
        /// </summary>
        public int FrameBytes { get; set; } = FrameParser.DefaultMaxBytes;

        /// <summary>Bytes that may wait for one peer; one that reads slower is closed.</summary>
        public int OutboundBytes { get; set; } = 64 * 1024 * 1024;

        /// <summary>
        /// Each connection costs two threads. The oldest stranger gives way to one more than these; where all are proven,
        /// that one is told so and closed.
        /// </summary>
        public int Connections { get; set; } = 32;

        /// <summary>Milliseconds in which a stranger must have proven to hold the token; 0 is for ever.</summary>
        public int StrangerMs { get; set; }

        /// <summary>Milliseconds in which a peer takes not one byte of what waits for it, until it is closed.</summary>
        public int StallMs { get; set; } = 30000;

        /// <summary>The same once the connection is to be closed.</summary>
        public int ClosingStallMs { get; set; } = 1000;

        /// <summary>
        /// Milliseconds for the peer to end its side after the last byte; an earlier close could take that byte back.
        /// </summary>
        public int LingerMs { get; set; } = 500;
    }
}
