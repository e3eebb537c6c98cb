#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using JobBroker.Bridge.Endpoint;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// Results that are too large for the journal, each in a file of its own. Files never change once they are there,
    /// so every member may be called from any thread.
    /// </summary>
    internal sealed class ResultStore
    {
        private const int BlockBytes = 64 * 1024;

        private readonly string folder;

        public ResultStore(string folder)
        {
            this.folder = folder;
        }

        /// <summary>What the disk refuses stays in memory.</summary>
        public StoredResult Put(string operationId, JsonText json, bool readOnly)
        {
            var name = ResultName.Of(operationId, readOnly);
            try
            {
                PrivateFolder.Create(folder);
                var crc = "";
                AtomicFile.Write(PathOf(name), !readOnly, stream => crc = json.WriteTo(stream));
                return new StoredResult(name, json.Length, crc);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return new StoredResult(name, json.Length, json.WriteTo(Stream.Null)) { InMemory = json };
            }
        }

        /// <summary>
        /// Whether a file of the right length is there; what it holds is checked when it is first read.
        /// </summary>
        public bool HasFile(StoredResult result)
        {
            var file = new FileInfo(PathOf(result.Name));
            return file.Exists && file.Length == result.Bytes;
        }

        /// <summary>
        /// The part from <paramref name="offset"/>, shorter or empty at the end; null when it is lost.
        /// </summary>
        public byte[]? Read(StoredResult result, long offset, int length)
        {
            if (result.InMemory != null) return result.InMemory.Part(offset, length);
            try
            {
                using (var stream = new FileStream(
                    PathOf(result.Name), FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete))
                {
                    if (!IsWhole(result, stream))
                    {
                        return null;
                    }

                    var part = new byte[Math.Max(0, Math.Min(length, result.Bytes - offset))];
                    stream.Position = Math.Min(offset, result.Bytes);
                    return Fill(stream, part) == part.Length ? part : null;
                }
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return null;
            }
        }

        public void Remove(StoredResult result) => AtomicFile.TryDelete(PathOf(result.Name));

        /// <summary>
        /// Removes what no line of the journal names: reads and half-written files at once, others when they are older
        /// than the deadline (a cut journal may have named them, and people may want them).
        /// </summary>
        public void RemoveOrphans(ICollection<string> named, DateTime deadlineUtc)
        {
            if (!Directory.Exists(folder))
            {
                return;
            }

            foreach (var path in Directory.GetFiles(folder))
            {
                var name = Path.GetFileName(path);
                var worthless = name.EndsWith(ResultName.ReadExtension, StringComparison.Ordinal)
                    || name.EndsWith(AtomicFile.TemporaryExtension, StringComparison.Ordinal);
                if (worthless || (!named.Contains(name) && File.GetLastWriteTimeUtc(path) < deadlineUtc))
                {
                    AtomicFile.TryDelete(path);
                }
            }
        }

        private static bool IsWhole(StoredResult result, Stream stream)
        {
            if (result.Verified)
            {
                return stream.Length == result.Bytes;
            }

            var crc = default(Crc32);
            var block = new byte[BlockBytes];
            for (int read; (read = stream.Read(block, 0, block.Length)) > 0;)
            {
                crc.Add(block, 0, read);
            }

            result.Verified = stream.Length == result.Bytes && crc.ToString() == result.Crc;
            return result.Verified;
        }

        private static int Fill(Stream stream, byte[] part)
        {
            var filled = 0;
            for (int read; filled < part.Length && (read = stream.Read(part, filled, part.Length - filled)) > 0;)
            {
                filled += read;
            }

            return filled;
        }

        private string PathOf(string name) => Path.Combine(folder, name);
    }
}
