#nullable enable
namespace JobBroker.Bridge.Window
{
    public enum CommunicationKind
    {
        Request,
        Result,
        Error,
    }

    /// <summary>One line of the communication log.</summary>
    /// <param name="Number">Grows by one with each entry, over domain reloads as well.</param>
    /// <param name="AtMs">Milliseconds since the Unix epoch.</param>
    /// <param name="Peer">What the client calls itself.</param>
    /// <param name="Text">JSON without secrets, cut where it is long.</param>
    public sealed record CommunicationEntry(
        long Number, long AtMs, CommunicationKind Kind, string Peer, string Method, string Text);
}
