#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// JSON as UTF-8, written once and never changed. A result of many megabytes takes no more memory than its text: it
    /// is kept in blocks below the large object heap and is not parsed into tokens.
    /// </summary>
    public sealed class JsonText
    {
        private readonly Blocks blocks;

        private JsonText(Blocks blocks)
        {
            this.blocks = blocks;
        }

        /// <summary>In bytes.</summary>
        public long Length => blocks.Length;

        public static JsonText Of(JToken token) => Of(writer => LedgerJson.Copy(token, writer));

        /// <summary>
        /// What <paramref name="write"/> writes; throws what it throws. Half of a surrogate pair becomes U+FFFD.
        /// </summary>
        public static JsonText Of(Action<JsonWriter> write)
        {
            var blocks = new Blocks();
            using (var writer = new JsonTextWriter(new StreamWriter(blocks, new UTF8Encoding(false))))
            {
                write(writer);
            }

            blocks.Trim();
            return new JsonText(blocks);
        }

        /// <summary>Some ten times as large as the text.</summary>
        public JToken Token()
        {
            var bytes = Part(0, (int)Length);
            return LedgerJson.Parse(bytes, 0, bytes.Length);
        }

        public override string ToString() => Encoding.UTF8.GetString(Part(0, (int)Length));

        /// <summary>The bytes from <paramref name="offset"/>, fewer or none at the end.</summary>
        public byte[] Part(long offset, int length)
        {
            var part = new byte[Math.Max(0, Math.Min(length, Length - offset))];
            blocks.Read(offset, part);
            return part;
        }

        /// <summary>The CRC-32 of all bytes, which are written to the stream.</summary>
        internal string WriteTo(Stream stream) => blocks.WriteTo(stream);

        /// <summary>Takes what is written, and keeps it.</summary>
        private sealed class Blocks : Stream
        {
            /// <summary>Small enough for the ordinary heap, whose garbage is collected soon.</summary>
            private const int BlockBytes = 64 * 1024;

            private readonly List<byte[]> blocks = new List<byte[]>();

            private long length;

            public override long Length => length;

            public override bool CanWrite => true;

            public override bool CanRead => false;

            public override bool CanSeek => false;

            public override long Position
            {
                get => length;
                set => throw new NotSupportedException();
            }

            public override void Write(byte[] buffer, int offset, int count)
            {
                while (count > 0)
                {
                    var at = (int)(length % BlockBytes);
                    if (at == 0)
                    {
                        blocks.Add(new byte[BlockBytes]);
                    }

                    var taken = Math.Min(count, BlockBytes - at);
                    Buffer.BlockCopy(buffer, offset, blocks[blocks.Count - 1], at, taken);
                    length += taken;
                    offset += taken;
                    count -= taken;
                }
            }

            /// <summary>Nothing more will be written: most results are small, and kept for long.</summary>
            public void Trim()
            {
                var used = (int)(length % BlockBytes);
                if (used == 0)
                {
                    return;
                }

                var last = new byte[used];
                Buffer.BlockCopy(blocks[blocks.Count - 1], 0, last, 0, used);
                blocks[blocks.Count - 1] = last;
            }

            public void Read(long offset, byte[] part)
            {
                for (var done = 0; done < part.Length;)
                {
                    var at = (int)((offset + done) % BlockBytes);
                    var taken = Math.Min(part.Length - done, BlockBytes - at);
                    Buffer.BlockCopy(blocks[(int)((offset + done) / BlockBytes)], at, part, done, taken);
                    done += taken;
                }
            }

            public string WriteTo(Stream stream)
            {
                var crc = default(Crc32);
                var left = length;
                foreach (var block in blocks)
                {
                    var count = (int)Math.Min(left, block.Length);
                    stream.Write(block, 0, count);
                    crc.Add(block, 0, count);
                    left -= count;
                }

                return crc.ToString();
            }

            public override void Flush()
            {
            }

            public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

            public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

            public override void SetLength(long value) => throw new NotSupportedException();
        }
    }
}
