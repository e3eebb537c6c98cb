#nullable enable
namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// CRC-32 as zlib computes it (reflected polynomial 0xEDB88320): ledgers of every bridge look alike.
    /// </summary>
    internal struct Crc32
    {
        private static readonly uint[] Table = MakeTable();

        private uint value;

        /// <summary>The checksum of everything added so far; 0 before that.</summary>
        public uint Value => value;

        public void Add(byte[] bytes, int offset, int count)
        {
            var crc = ~value;
            for (var i = offset; i < offset + count; i++)
            {
                crc = Table[(crc ^ bytes[i]) & 0xff] ^ (crc >> 8);
            }

            value = ~crc;
        }

        /// <summary>Eight lower-case hexadecimal digits, as they stand in the journal.</summary>
        public static string Of(byte[] bytes, int offset, int count)
        {
            var crc = default(Crc32);
            crc.Add(bytes, offset, count);
            return crc.ToString();
        }

        public override string ToString() => Value.ToString("x8");

        private static uint[] MakeTable()
        {
            var table = new uint[256];
            for (uint i = 0; i < 256; i++)
            {
                var crc = i;
                for (var bit = 0; bit < 8; bit++)
                {
                    crc = (crc & 1) == 0 ? crc >> 1 : 0xEDB88320u ^ (crc >> 1);
                }

                table[i] = crc;
            }

            return table;
        }
    }
}
