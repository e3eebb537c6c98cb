#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using JobBroker.Bridge.Endpoint;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The ledger's folder, opened: locked, read back, repaired, compacted and writable.
    ///
    /// ledger.log the journal; results/ large results; ledger.lock and ledger.owner who has it; ledger.cut-&lt;n&gt;
    /// what a repair cut off. All files are this user's alone (0600), as is the folder if it is made here (0700).
    /// </summary>
    internal sealed class LedgerFiles : IDisposable
    {
        private readonly string folder;

        private LedgerLock folderLock;

        private LedgerFiles(
            string folder,
            LedgerLock folderLock,
            LedgerContent content,
            JournalFile journal,
            ResultStore results,
            List<string> notices,
            long durableSeq)
        {
            this.folder = folder;
            this.folderLock = folderLock;
            Content = content;
            Journal = journal;
            Results = results;
            Notices = notices;
            DurableSeq = durableSeq;
        }

        public LedgerContent Content { get; }

        public JournalFile Journal { get; }

        public ResultStore Results { get; }

        public IReadOnlyList<string> Notices { get; }

        public long DurableSeq { get; }

        /// <summary>Throws LedgerUnavailableException with what to do.</summary>
        public static LedgerFiles Open(LedgerOptions options, IClock clock)
        {
            LedgerLock? folderLock = null;
            try
            {
                PrivateFolder.Create(options.Folder);
                folderLock = LedgerLock.Take(options.Folder);
                return options.Carried == null ? Read(folderLock, options, clock) : ReadCarried(folderLock, options);
            }
            catch (Exception error)
            {
                folderLock?.Dispose();
                if (error is IOException || error is UnauthorizedAccessException || error is NotSupportedException)
                {
                    throw LedgerUnavailableException.Unwritable(options.Folder, error);
                }

                throw;
            }
        }

        /// <summary>The folder is to be free for any process once this is disposed.</summary>
        public void Release() => folderLock.Release();

        /// <summary>
        /// Makes the folder and its lock again if somebody has removed them. Throws LedgerUnavailableException, also when another
        /// process has taken the folder meanwhile.
        /// </summary>
        public void Restore()
        {
            if (Journal.IsClosed) return;
            try
            {
                if (folderLock.IsInPlace)
                {
                    folderLock.NameOwner();
                    return;
                }

                PrivateFolder.Create(folder);
                var lost = folderLock;
                folderLock = LedgerLock.Take(folder);
                lost.Dispose();
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw LedgerUnavailableException.Unwritable(folder, error);
            }
        }

        public void Dispose()
        {
            Journal.Close();
            folderLock.Dispose();
        }

        /// <summary>Stands for all lines before it.</summary>
        public static JournalEntry SnapshotOf(LedgerContent content, long nowMs)
        {
            var snapshot = JournalEntry.Snapshot(content);
            snapshot.Seq = content.Seq;
            snapshot.At = nowMs;
            return snapshot;
        }

        /// <summary>All that memory knows, as text: the seq that is durable, a line feed, the line of a snapshot.</summary>
        public static string Carry(LedgerContent content, long durableSeq, long nowMs) =>
            durableSeq.ToString(CultureInfo.InvariantCulture) + "\n"
            + Encoding.UTF8.GetString(JournalLine.Encode(SnapshotOf(content, nowMs))).TrimEnd('\n');

        /// <summary>The journal that is there is not trusted: the script domain before could not write it.</summary>
        private static LedgerFiles ReadCarried(LedgerLock folderLock, LedgerOptions options)
        {
            var parts = options.Carried!.Split(new[] { '\n' }, 2);
            var line = Encoding.UTF8.GetBytes(parts[1]);
            var content = new LedgerContent();
            content.Apply(JournalLine.Decode(line, line.Length)!);
            var notices = new List<string>();
            var results = new ResultStore(Path.Combine(options.Folder, "results"));
            CheckResults(results, content, options, notices);
            var journal = new JournalFile(PathIn(options), "The ledger could not be written before the domain reload.");
            var durableSeq = long.Parse(parts[0], NumberStyles.None, CultureInfo.InvariantCulture);
            return new LedgerFiles(options.Folder, folderLock, content, journal, results, notices, durableSeq);
        }

        private static string PathIn(LedgerOptions options) => Path.Combine(options.Folder, "ledger.log");

        private static LedgerFiles Read(LedgerLock folderLock, LedgerOptions options, IClock clock)
        {
            var path = PathIn(options);
            var notices = new List<string>();
            var content = new LedgerContent();
            AtomicFile.TryDelete(path + AtomicFile.TemporaryExtension);
            var reading = JournalReader.Read(path, content);
            Repair(path, reading, content, clock, notices);
            var unnamed = reading.Lines > options.CompactLines
                ? Compact(path, content, options, clock, notices)
                : new List<StoredResult>();

            var journal = new JournalFile(path, null);
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
                unnamed.ForEach(results.Remove);
                CheckResults(results, content, options, notices);
                return new LedgerFiles(options.Folder, folderLock, content, journal, results, notices, content.Seq);
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

        /// <summary>
        /// Compacts the journal into one snapshot without what may be forgotten; if that fails, the long journal stays.
        /// Returns the results that no line names any more.
        ///
        /// Forgetting gets no line of its own here: its number would precede the session's line, and a rolled-back
        /// ledger would look as long as the one that a worker saw.
        /// </summary>
        private static List<StoredResult> Compact(
            string path, LedgerContent content, LedgerOptions options, IClock clock, List<string> notices)
        {
            var results = Forget(content, options, clock);
            try
            {
                var line = JournalLine.Encode(SnapshotOf(content, clock.NowMs));
                AtomicFile.Write(path, true, stream => stream.Write(line, 0, line.Length));
                return results;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                notices.Add($"The ledger could not be compacted ({error.Message}); it works as it is.");
                return new List<StoredResult>();
            }
        }

        /// <summary>In memory; the horizon protects what the disk may still have.</summary>
        private static List<StoredResult> Forget(LedgerContent content, LedgerOptions options, IClock clock)
        {
            var forgotten = Forgetting.Of(content, clock.NowMs, options);
            if (forgotten == null)
            {
                return new List<StoredResult>();
            }

            var results = forgotten.Ids.Select(id => content.Operations.Get(id)!.StoredResult)
                .Where(stored => stored != null).Select(stored => stored!).ToList();
            forgotten.Seq = content.Seq;
            forgotten.At = clock.NowMs;
            content.Apply(forgotten);
            return results;
        }

        private static void CheckResults(
            ResultStore results, LedgerContent content, LedgerOptions options, List<string> notices)
        {
            var named = new HashSet<string>();
            foreach (var operation in content.Operations.InOrder.Where(operation => operation.StoredResult != null))
            {
                named.Add(operation.StoredResult!.Name);
                if (!results.HasFile(operation.StoredResult))
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
                notices.Add($"Unreferenced results could not be removed ({error.Message}).");
            }
        }
    }
}
