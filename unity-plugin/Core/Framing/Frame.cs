#nullable enable
namespace JobBroker.Bridge.Framing
{
    public enum FrameKind
    {
        /// <summary>A whole body: <see cref="Frame.Text"/>.</summary>
        Message,

        /// <summary>A body over the limit, which is skipped: <see cref="Frame.Length"/>.</summary>
        TooLong,

        /// <summary>
        /// The stream has no frame boundary any more: close it with the reason in <see cref="Frame.Text"/>.
        /// </summary>
        Malformed,
    }

    /// <summary>What the parser found next.</summary>
    public readonly struct Frame
    {
        internal Frame(FrameKind kind, string text, long length)
        {
            Kind = kind;
            Text = text;
            Length = length;
        }

        public FrameKind Kind { get; }

        /// <summary>The body, or the reason of a malformed header.</summary>
        public string Text { get; }

        /// <summary>Bytes of the body as its header says.</summary>
        public long Length { get; }
    }
}
