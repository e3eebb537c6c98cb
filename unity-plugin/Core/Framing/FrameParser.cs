#nullable enable
using System;
using System.Globalization;
using System.Text;

namespace JobBroker.Bridge.Framing
{
    /// <summary>
    /// Content-Length framing without I/O: bytes in, split anywhere, frames out. Not for several threads.
    /// </summary>
    public sealed class FrameParser
    {
        public const int DefaultMaxBytes = 1024 * 1024;

        private const int MaxHeaderBytes = 4096;

        /// <summary>
        /// A larger buffer is released as soon as it is empty; a smaller one is kept until the connection ends.
        /// </summary>
        private const int KeptBytes = 256 * 1024;

        private readonly int maxBytes;
        private byte[] buffer = Array.Empty<byte>();
        private int start;
        private int end;
        private int searched;
        private int body = -1;
        private long skip;
        private string malformed = "";

        /// <summary>
        /// Bodies above <paramref name="maxBytes"/> are reported and their bytes passed over without keeping them.
        /// </summary>
        public FrameParser(int maxBytes = DefaultMaxBytes) => this.maxBytes = maxBytes;

        /// <summary>Size in bytes of the buffer for incomplete frames.</summary>
        public int Capacity => buffer.Length;

        /// <summary>One frame around the JSON text of a message.</summary>
        public static byte[] Encode(string text)
        {
            var length = Encoding.UTF8.GetByteCount(text);
            var header = "Content-Length: " + length.ToString(CultureInfo.InvariantCulture) + "\r\n\r\n";
            var frame = new byte[header.Length + length];
            Encoding.ASCII.GetBytes(header, 0, header.Length, frame, 0);
            Encoding.UTF8.GetBytes(text, 0, text.Length, frame, header.Length);
            return frame;
        }

        /// <summary>Takes the next bytes; ask <see cref="TryNext"/> until it has nothing before pushing more.</summary>
        public void Push(byte[] bytes, int offset, int count)
        {
            if (malformed.Length > 0) return;
            var skipped = (int)Math.Min(skip, count);
            skip -= skipped;
            count -= skipped;
            if (count == 0) return;
            MakeRoomFor(count);
            Buffer.BlockCopy(bytes, offset + skipped, buffer, end, count);
            end += count;
        }

        /// <summary>The next whole frame; false means "not yet". After a malformed one nothing else comes.</summary>
        public bool TryNext(out Frame frame)
        {
            frame = default;
            if (malformed.Length == 0 && body < 0 && !ReadHeader(out frame)) return frame.Kind == FrameKind.TooLong;
            if (malformed.Length > 0)
            {
                frame = new Frame(FrameKind.Malformed, malformed, 0);
                return true;
            }
            if (end - start < body) return false;
            frame = new Frame(FrameKind.Message, Encoding.UTF8.GetString(buffer, start, body), body);
            Consume(body);
            body = -1;
            return true;
        }

        /// <summary>False when there is no header yet, or its body is skipped.</summary>
        private bool ReadHeader(out Frame frame)
        {
            frame = default;
            var from = Math.Max(start, searched - 3);
            var blank = Find("\r\n\r\n", from);
            searched = end;
            if (blank < 0 ? end - start >= MaxHeaderBytes + 4 : blank - start > MaxHeaderBytes)
            {
                return Fail("header longer than 4096 bytes");
            }
            if (blank < 0)
            {
                // The first line reveals a foreign protocol, which may never send a blank line.
                var problem = Find("\r\n", from) < 0 ? "" : FrameHeader.Problem(Latin1(Find("\r\n", start) - start));
                return problem.Length > 0 && Fail(problem);
            }
            var length = FrameHeader.ReadContentLength(Latin1(blank - start), out var reason);
            if (length < 0) return Fail(reason);
            Consume(blank + 4 - start);
            if (length <= maxBytes)
            {
                body = (int)length;
                return true;
            }
            var here = (int)Math.Min(length, end - start);
            skip = length - here;
            Consume(here);
            frame = new Frame(FrameKind.TooLong, "", length);
            return false;
        }

        private bool Fail(string reason)
        {
            malformed = reason;
            buffer = Array.Empty<byte>();
            start = end = 0;
            return true;
        }

        private void Consume(int count)
        {
            start += count;
            searched = start;
            if (start < end) return;
            start = end = searched = 0;
            if (buffer.Length > KeptBytes) buffer = Array.Empty<byte>();
        }

        private void MakeRoomFor(int count)
        {
            if (buffer.Length - end >= count) return;
            var held = end - start;
            var target = buffer;
            if (held + count > buffer.Length)
            {
                target = new byte[Math.Max(held + count, Math.Max(4096, 2 * buffer.Length))];
            }
            Buffer.BlockCopy(buffer, start, target, 0, held);
            buffer = target;
            searched -= start;
            start = 0;
            end = held;
        }

        private int Find(string ascii, int from)
        {
            for (var at = from; at <= end - ascii.Length; at++)
            {
                var matched = 0;
                while (matched < ascii.Length && buffer[at + matched] == ascii[matched]) matched++;
                if (matched == ascii.Length) return at;
            }
            return -1;
        }

        private string Latin1(int count)
        {
            var text = new char[count];
            for (var at = 0; at < count; at++) text[at] = (char)buffer[start + at];
            return new string(text);
        }
    }
}
