#nullable enable
namespace JobBroker.Bridge.Ledger
{
    /// <summary>A result in a file of its own, as the journal vouches for it.</summary>
    internal sealed class StoredResult
    {
        private volatile bool verified;

        public StoredResult(string name, long bytes, string crc)
        {
            Name = name;
            Bytes = bytes;
            Crc = crc;
        }

        /// <summary>In the folder of results.</summary>
        public string Name { get; }

        public long Bytes { get; }

        /// <summary>CRC-32 of the whole file; without it nothing vouches for the file.</summary>
        public string Crc { get; }

        /// <summary>The result itself while the disk refuses its file; null as a rule.</summary>
        public JsonText? InMemory { get; set; }

        /// <summary>The file was read once from end to end and is what was written.</summary>
        public bool Verified
        {
            get => verified;
            set => verified = value;
        }
    }
}
