#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Endpoint;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The journal while it is written: every line goes to the operating system at once, so that the end of the process
    /// loses nothing, and to the disk where the caller asks for it. Not safe for several threads, except
    /// <see cref="Problem"/>.
    ///
    /// After one failed write or flush the file is not trusted, as the system may have dropped what it had taken: nothing
    /// is appended until <see cref="Replace"/> has written it anew. (Mono reports no error of a flush; of a write it does.)
    /// Neither is a file trusted that the path does not name: it was deleted, replaced or cut while it was in use.
    /// </summary>
    internal sealed class JournalFile
    {
        private readonly string path;

        private DiskFile? stream;

        private volatile string? problem;

        /// <param name="problem">Why the file that is there is not to be trusted; null when it is.</param>
        public JournalFile(string path, string? problem)
        {
            this.path = path;
            this.problem = problem;
            if (problem == null) stream = Opened();
        }

        /// <summary>Why nothing can be appended, and what to do; null when the file is trusted.</summary>
        public string? Problem => problem;

        public bool IsClosed { get; private set; }

        /// <summary>Looks whether the path still names the file; otherwise that is the <see cref="Problem"/>.</summary>
        public void Check()
        {
            if (problem != null) return;
            try
            {
                Trusted(CheckPlace);
            }
            catch (LedgerUnavailableException)
            {
                // It is the problem by now.
            }
        }

        /// <summary>Throws LedgerUnavailableException; the line may then be on the disk or not.</summary>
        public void Append(JournalEntry entry, bool flush)
        {
            if (problem != null) throw new LedgerUnavailableException(problem);
            var line = JournalLine.Encode(entry);
            Trusted(() =>
            {
                stream!.Write(line, 0, line.Length);
                if (flush) stream.Flush(true);
                CheckPlace();
            });
        }

        /// <summary>Writes a new file that begins with this entry. Throws LedgerUnavailableException.</summary>
        public void Replace(JournalEntry snapshot)
        {
            if (IsClosed) throw new LedgerUnavailableException(problem!);
            var line = JournalLine.Encode(snapshot);
            Trusted(() =>
            {
                AtomicFile.Write(path, true, file => file.Write(line, 0, line.Length));
                stream = Opened();
            });
            problem = null;
        }

        /// <summary>Waits for the disk. Throws what FileStream throws.</summary>
        public void Flush() => stream?.Flush(true);

        public void Close()
        {
            IsClosed = true;
            problem = "The ledger is closed: the scripts reload, or the Editor quits.";
            CloseStream();
        }

        /// <summary>
        /// By the length, as Mono shows no file's identity: a copy in its place does not grow with what is written. Not on
        /// Windows, where nobody can delete, replace or cut a file that is open.
        /// </summary>
        private void CheckPlace()
        {
            if (PrivateFile.OnWindows) return;
            var there = new FileInfo(path);
            if (there.Exists && there.Length == stream!.Position) return;
            throw new IOException("Its file was deleted, replaced or cut while it was in use.");
        }

        private void Trusted(Action write)
        {
            try
            {
                write();
            }
            catch (Exception error)
            {
                // Any exception, also the abort of a thread by a domain reload: the line may be half written.
                var unavailable = LedgerUnavailableException.Unwritable(Path.GetDirectoryName(path)!, error);
                problem = unavailable.Message;
                CloseStream();
                throw unavailable;
            }
        }

        private DiskFile Opened()
        {
            PrivateFile.Ensure(path);
            var opened = new DiskFile(path, FileMode.OpenOrCreate, FileAccess.Write, FileShare.Read);
            opened.Seek(0, SeekOrigin.End);
            return opened;
        }

        private void CloseStream()
        {
            try
            {
                stream?.Dispose();
            }
            catch (IOException)
            {
                // What was not written has already been refused.
            }

            stream = null;
        }
    }
}
