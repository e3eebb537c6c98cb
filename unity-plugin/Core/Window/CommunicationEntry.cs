#nullable enable
namespace JobBroker.Bridge.Window
{
    public enum CommunicationKind
    {
        Request,
        Result,
        Error,
    }

    /// <summary>One line of the communication log; never changes.</summary>
    public sealed class CommunicationEntry
    {
        public CommunicationEntry(long number, long atMs, CommunicationKind kind, string peer, string method, string text)
        {
            Number = number;
            AtMs = atMs;
            Kind = kind;
            Peer = peer;
            Method = method;
            Text = text;
        }

        /// <summary>Grows by one with each entry, over domain reloads as well.</summary>
        public long Number { get; }

        /// <summary>Milliseconds since the Unix epoch.</summary>
        public long AtMs { get; }

        public CommunicationKind Kind { get; }

        /// <summary>What the client calls itself.</summary>
        public string Peer { get; }

        public string Method { get; }

        /// <summary>JSON without secrets, cut where it is long.</summary>
        public string Text { get; }
    }
}
