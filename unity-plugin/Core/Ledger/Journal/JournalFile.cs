#nullable enable
using System;
using System.IO;
using System.Threading;
using JobBroker.Bridge.Endpoint;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The journal while it is written: every line goes to the operating system at once, so that the end of the process
    /// loses nothing, and to the disk where the caller asks for it. Not safe for several threads, except
    /// <see cref="EndDelay"/> and <see cref="FlushDelayMs"/>.
    ///
    /// After one failed write or flush it refuses everything: what the disk holds is unknown until the file is read
    /// again. (Mono reports no error of a flush; of a write it does.)
    /// </summary>
    internal sealed class JournalFile
    {
        private readonly FileStream stream;

        private readonly ManualResetEvent delayEnded = new ManualResetEvent(false);

        private volatile int flushDelayMs;

        private string? refusal;

        public JournalFile(string path)
        {
            PrivateFile.Ensure(path);
            // A buffer of one byte disables buffering: a line is one write.
            stream = new FileStream(path, FileMode.OpenOrCreate, FileAccess.Write, FileShare.Read, 1);
            stream.Seek(0, SeekOrigin.End);
        }

        /// <summary>Fault: every append is refused while true.</summary>
        public bool Broken { get; set; }

        /// <summary>Fault: a slow disk. Milliseconds that each flush takes longer.</summary>
        public int FlushDelayMs
        {
            get => flushDelayMs;
            set => flushDelayMs = value;
        }

        /// <summary>Throws LedgerUnavailableException when an append would.</summary>
        public void RefuseIfUnwritable()
        {
            if (Broken)
            {
                throw new LedgerUnavailableException("The ledger cannot be written (a fault that was asked for).");
            }

            if (refusal != null)
            {
                throw new LedgerUnavailableException(refusal);
            }
        }

        /// <summary>Throws LedgerUnavailableException; the line may then be on the disk or not.</summary>
        public void Append(JournalEntry entry, bool flush)
        {
            RefuseIfUnwritable();
            var line = JournalLine.Encode(entry);
            try
            {
                stream.Write(line, 0, line.Length);
                stream.Flush();
                if (flush)
                {
                    Flush();
                }
            }
            catch (Exception error)
            {
                // Any exception, also the abort of a thread by a domain reload: the line may be half written.
                refusal = $"The ledger could not be written ({error.Message}). Nothing runs until that is fixed: make "
                    + "room on the disk, look at the folder's rights, then restart the bridge.";
                throw new LedgerUnavailableException(refusal, error);
            }
        }

        /// <summary>Waits for the disk. Throws what FileStream throws.</summary>
        public void Flush()
        {
            if (FlushDelayMs > 0)
            {
                delayEnded.WaitOne(FlushDelayMs);
            }

            stream.Flush(true);
        }

        /// <summary>Ends a slow disk's delay, now and for good. Any thread.</summary>
        public void EndDelay() => delayEnded.Set();

        public void Close()
        {
            refusal = refusal ?? "The ledger is closed.";
            try
            {
                stream.Dispose();
            }
            catch (IOException)
            {
                // The failed append has already been refused.
            }
        }
    }
}
