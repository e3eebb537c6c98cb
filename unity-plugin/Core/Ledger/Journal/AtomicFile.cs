#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Endpoint;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>Writes a file, for this user alone, so that readers and a crash meet the old one or the new one.</summary>
    internal static class AtomicFile
    {
        public const string TemporaryExtension = ".tmp";

        /// <summary>
        /// Throws IOException or UnauthorizedAccessException: then the old one or the new one is there.
        /// </summary>
        /// <param name="durable">False skips the flushes of the file and of its folder to the disk.</param>
        public static void Write(string path, bool durable, Action<Stream> write)
        {
            var temporary = path + TemporaryExtension;
            try
            {
                // A leftover of a crash may have other rights.
                File.Delete(temporary);
                PrivateFile.CreateEmpty(temporary);
                using (var stream = new DiskFile(temporary, FileMode.Create, FileAccess.Write, FileShare.None))
                {
                    write(stream);
                    stream.Flush(durable);
                }

                PrivateFile.MoveOver(temporary, path);
                if (durable) PrivateFolder.Flush(Path.GetDirectoryName(path)!);
            }
            catch
            {
                TryDelete(temporary);
                throw;
            }
        }

        /// <summary>False when the file is still there.</summary>
        public static bool TryDelete(string path)
        {
            try
            {
                File.Delete(path);
                return true;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return false;
            }
        }
    }
}
