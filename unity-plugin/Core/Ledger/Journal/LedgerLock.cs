#nullable enable
using System;
using System.IO;
using System.Threading;
using JobBroker.Bridge.Endpoint;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// One ledger folder, one process, one script domain. Two locks on one file, because no single one holds
    /// everywhere: FileShare.None is not enforced between processes by Mono on Linux, and FileStream.Lock does not
    /// exist in .NET on macOS and does not count inside one process. The operating system drops both when the process
    /// ends.
    /// </summary>
    internal sealed class LedgerLock : IDisposable
    {
        private const int Attempts = 5;

        private const int PauseMs = 20;

        private readonly FileStream stream;
        private readonly string ownerFile;
        private bool isOver;

        private LedgerLock(FileStream stream, string ownerFile)
        {
            this.stream = stream;
            this.ownerFile = ownerFile;
        }

        /// <summary>
        /// Throws LedgerInUseException, naming the owner, when another process has it or only reloads;
        /// LedgerUnavailableException when somebody holds the lock who does not own the folder; IOException and
        /// UnauthorizedAccessException when the folder cannot be written.
        /// </summary>
        public static LedgerLock Take(string folder)
        {
            var ownerFile = Path.Combine(folder, "ledger.owner");
            for (var attempt = 1; ; attempt++)
            {
                var stream = TryTake(Path.Combine(folder, "ledger.lock"));
                if (stream != null)
                {
                    try
                    {
                        if (LedgerOwner.IsAnotherAlive(ownerFile)) throw InUse(folder, ownerFile);
                        LedgerOwner.Write(ownerFile);
                        return new LedgerLock(stream, ownerFile);
                    }
                    catch
                    {
                        stream.Dispose();
                        throw;
                    }
                }

                if (attempt == Attempts)
                {
                    throw LedgerOwner.IsAnotherAlive(ownerFile) ? InUse(folder, ownerFile) : new LedgerUnavailableException(
                        $"The lock of the ledger in {folder} is held by another program, a backup or a virus scanner for "
                        + "instance. It is tried again every second. If this stays, end that program.");
                }

                // A script domain that ended without closing its ledger leaves the file to the finalizer.
                GC.Collect();
                GC.WaitForPendingFinalizers();
                Thread.Sleep(PauseMs);
            }
        }

        /// <summary>False when somebody has removed its file, with the folder or alone: another process could take it.</summary>
        public bool IsInPlace => File.Exists(stream.Name);

        /// <summary>Names this process again if that was removed. Throws LedgerInUseException when another one took it.</summary>
        public void NameOwner()
        {
            if (LedgerOwner.IsAnotherAlive(ownerFile)) throw InUse(Path.GetDirectoryName(ownerFile)!, ownerFile);
            LedgerOwner.Write(ownerFile);
        }

        /// <summary>The folder is to be free for any process once this is disposed.</summary>
        public void Release()
        {
            if (!isOver) AtomicFile.TryDelete(ownerFile);
        }

        public void Dispose()
        {
            isOver = true;
            stream.Dispose();
        }

        private static LedgerInUseException InUse(string folder, string ownerFile) => new LedgerInUseException(
            $"The ledger in {folder} is in use by {LedgerOwner.Name(ownerFile) ?? "another process"}. Only one Editor may "
            + "write it: close that one, or give this one a folder of its own.");

        /// <summary>Null when another process has it.</summary>
        private static FileStream? TryTake(string path)
        {
            FileStream stream;
            PrivateFile.Ensure(path);
            try
            {
                stream = new DiskFile(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            }
            catch (IOException error) when (IsSharingViolation(error))
            {
                return null;
            }

            try
            {
                stream.Lock(0, 1);
                return stream;
            }
            catch (PlatformNotSupportedException)
            {
                return stream;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                stream.Dispose();
                return null;
            }
        }

        private static bool IsSharingViolation(IOException error)
        {
            switch (error.HResult)
            {
                case unchecked((int)0x80070020):
                case unchecked((int)0x80070021):
                case 11: // EWOULDBLOCK of Linux, as .NET hands it on,
                case 35: // and of macOS.
                    return true;
                default:
                    return false;
            }
        }
    }
}
