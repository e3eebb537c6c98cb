#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Endpoint;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// Writes a file, for this user alone, so that a crash leaves the old one or the new one. .NET cannot flush a
    /// folder: the rename itself
    /// becomes durable with the next flush of a file beside it, on the usual journalling file systems.
    /// </summary>
    internal static class AtomicFile
    {
        public const string TemporaryExtension = ".tmp";

        /// <summary>Throws IOException or UnauthorizedAccessException, and leaves what was there before.</summary>
        /// <param name="durable">False skips the flush to the disk.</param>
        public static void Write(string path, bool durable, Action<Stream> write)
        {
            var temporary = path + TemporaryExtension;
            try
            {
                // A leftover of a crash may have other rights.
                File.Delete(temporary);
                PrivateFile.CreateEmpty(temporary);
                using (var stream = new FileStream(temporary, FileMode.Create, FileAccess.Write, FileShare.None))
                {
                    write(stream);
                    stream.Flush(durable);
                }

                if (File.Exists(path))
                {
                    File.Replace(temporary, path, null);
                }
                else
                {
                    File.Move(temporary, path);
                }
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
