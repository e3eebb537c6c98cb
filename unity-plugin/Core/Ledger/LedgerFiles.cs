#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The ledger's folder, opened: locked, read back, repaired, compacted and writable.
    ///
    /// ledger.log the journal; results/ large results; ledger.lock and ledger.owner who has it; ledger.cut-&lt;n&gt;
    /// what a repair cut off. Rights are those of the user's umask: .NET Standard cannot set others.
    /// </summary>
    internal sealed class LedgerFiles : IDisposable
    {
        private readonly LedgerLock folderLock;

        private LedgerFiles(
            LedgerLock folderLock,
            LedgerContent content,
            JournalFile journal,
            ResultStore results,
            List<string> notices)
        {
            this.folderLock = folderLock;
            Content = content;
            Journal = journal;
            Results = results;
            Notices = notices;
        }

        public LedgerContent Content { get; }

        public JournalFile Journal { get; }

        public ResultStore Results { get; }

        public IReadOnlyList<string> Notices { get; }

        /// <summary>Throws LedgerUnavailableException with what to do.</summary>
        public static LedgerFiles Open(LedgerOptions options, IClock clock)
        {
            LedgerLock? folderLock = null;
            try
            {
                Directory.CreateDirectory(options.Folder);
                folderLock = LedgerLock.Take(options.Folder);
                return Read(folderLock, options, clock);
            }
            catch (Exception error)
            {
                folderLock?.Dispose();
                if (error is IOException || error is UnauthorizedAccessException || error is NotSupportedException)
                {
                    throw new LedgerUnavailableException(
                        $"The ledger's folder {options.Folder} cannot be written ({error.Message}). Nothing that "
                        + "changes the project runs without it: give this user the right to write there and room on "
                        + "the disk, or choose another folder.",
                        error);
                }

                throw;
            }
        }

        public void Dispose()
        {
            Journal.Close();
            folderLock.Dispose();
        }

        private static LedgerFiles Read(LedgerLock folderLock, LedgerOptions options, IClock clock)
        {
            var path = Path.Combine(options.Folder, "ledger.log");
            var notices = new List<string>();
            var content = new LedgerContent();
            AtomicFile.TryDelete(path + AtomicFile.TemporaryExtension);
            var reading = JournalReader.Read(path, content);
            Repair(path, reading, content, clock, notices);
            if (reading.Lines > options.CompactLines)
            {
                Compact(path, content, clock, notices);
            }

            var journal = new JournalFile(path);
            try
            {
                // Lines that only the operating system had count as durable from here on.
                journal.Flush();
                if (content.LedgerId.Length == 0)
                {
                    var opened = Opened(content, clock);
                    journal.Append(opened, true);
                    content.Apply(opened);
                }

                var results = new ResultStore(Path.Combine(options.Folder, "results"));
                CheckResults(results, content, options, notices);
                return new LedgerFiles(folderLock, content, journal, results, notices);
            }
            catch
            {
                journal.Close();
                throw;
            }
        }

        private static void Repair(
            string path, JournalReading reading, LedgerContent content, IClock clock, List<string> notices)
        {
            if (reading.LostLines)
            {
                var opened = Opened(content, clock);
                JournalRepair.CutDamage(path, reading, opened, notices);
                content.Apply(opened);
            }
            else if (reading.GoodBytes < reading.TotalBytes)
            {
                JournalRepair.CutTail(path, reading, notices);
            }
        }

        private static JournalEntry Opened(LedgerContent content, IClock clock)
        {
            var opened = JournalEntry.Opened(Guid.NewGuid().ToString());
            opened.Seq = content.Seq + 1;
            opened.At = clock.NowMs;
            return opened;
        }

        /// <summary>Makes one line of all; the long journal does as well where that fails.</summary>
        private static void Compact(string path, LedgerContent content, IClock clock, List<string> notices)
        {
            var snapshot = JournalEntry.Snapshot(content);
            snapshot.Seq = content.Seq;
            snapshot.At = clock.NowMs;
            try
            {
                var line = JournalLine.Encode(snapshot);
                AtomicFile.Write(path, true, stream => stream.Write(line, 0, line.Length));
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                notices.Add($"The ledger could not be made shorter ({error.Message}); it works as it is.");
            }
        }

        private static void CheckResults(
            ResultStore results, LedgerContent content, LedgerOptions options, List<string> notices)
        {
            var named = new HashSet<string>();
            foreach (var operation in content.Operations.InOrder.Where(operation => operation.StoredResult != null))
            {
                named.Add(operation.StoredResult!.Name);
                if (!results.Seems(operation.StoredResult))
                {
                    LedgerResults.LoseFile(operation);
                    notices.Add($"The result of operation {operation.OperationId} is not where the ledger put it.");
                }
            }

            try
            {
                results.RemoveOrphans(named, DateTime.UtcNow.AddMilliseconds(-options.ForgetAfterMs));
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                notices.Add($"Results that nobody wants any more could not be removed ({error.Message}).");
            }
        }
    }
}
