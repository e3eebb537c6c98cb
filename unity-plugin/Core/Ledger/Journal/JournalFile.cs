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

        /// <summary>Throws LedgerUnavailableException; the line may then be on the disk or not.</summary>
        public void Append(JournalEntry entry, bool flush)
        {
            if (problem != null) throw new LedgerUnavailableException(problem);
            var line = JournalLine.Encode(entry);
            Trusted(() =>
            {
                stream!.Write(line, 0, line.Length);
                if (flush) stream.Flush(true);
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
