#nullable enable
using System;
using System.IO;

namespace JobBroker.Bridge
{
    /// <summary>A call to the system by which a file changes.</summary>
    internal enum DiskStep
    {
        Open,
        Write,
        Flush,
        Rename,
    }

    /// <summary>Every call by which the bridge changes a file of its own is announced here, so that a test can make it fail.</summary>
    internal static class Disk
    {
        /// <param name="half">Of a write: writes only the first half of the bytes.</param>
        public delegate void Fault(DiskStep step, string path, Action? half);

        /// <summary>Raised before each call, on its thread: what it throws, the call throws. Only tests and a stand-in host listen.</summary>
        public static event Fault? Before;

        public static void Announce(DiskStep step, string path, Action? half = null) => Before?.Invoke(step, path, half);
    }

    /// <summary>A file to write, without a buffer: each write is one call to the system.</summary>
    internal sealed class DiskFile : FileStream
    {
        public DiskFile(string path, FileMode mode, FileAccess access, FileShare share)
            : base(Announced(path), mode, access, share, 1)
        {
        }

        public override void Write(byte[] array, int offset, int count)
        {
            Disk.Announce(DiskStep.Write, Name, () => base.Write(array, offset, count / 2));
            base.Write(array, offset, count);
        }

        public override void Flush(bool flushToDisk)
        {
            if (flushToDisk) Disk.Announce(DiskStep.Flush, Name);
            base.Flush(flushToDisk);
        }

        private static string Announced(string path)
        {
            Disk.Announce(DiskStep.Open, path);
            return path;
        }
    }
}
