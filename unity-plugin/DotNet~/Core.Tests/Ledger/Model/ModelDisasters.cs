using System;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger.Model;

/// <content>What happens to the process and to the folder.</content>
internal sealed partial class ModelWorld
{
    /// <summary>The script domain goes; what the disk refuses goes over with the session store.</summary>
    private void Reload()
    {
        Note("reload");
        disk.Broken &= ledger.Problem != null;
        var carried = ledger.Close();
        Assert.Equal(disk.Broken, carried != null);
        ledger = Opened(carried);
        TakeForgotten();
        if (ledger.Problem == null)
        {
            Flushed();
        }

        queue.Clear();
        Recover(RecoveryCause.DomainReload);
        Assert.Equal(
            expected.InOrder.Where(op => op.State == LedgerState.Accepted).Select(op => op.Id), queue);
        seated.Saw(ledger);
    }

    /// <summary>The process dies; a power cut also takes what only the operating system had.</summary>
    private void Crash(bool powerCut)
    {
        Note(powerCut ? "power cut" : "crash");
        Vanish();
        expected.LoseMemory();
        if (powerCut)
        {
            using var stream = new FileStream(Journal, FileMode.Open);
            stream.SetLength(flushedBytes + random.NextInt64(stream.Length - flushedBytes + 1));
            stream.Dispose();
            ForgetWhatThePowerCutTook();
        }

        StartProcess();
    }

    /// <summary>The process writes nothing any more.</summary>
    private void Vanish()
    {
        disk.Broken = true;
        ledger.Dispose();
        disk.Broken = false;
    }

    /// <summary>Nothing durable may be missing; of the rest the file is believed.</summary>
    private void ForgetWhatThePowerCutTook()
    {
        using var survived = Opened();
        foreach (var operation in expected.Operations.Values.ToList())
        {
            var found = survived.Get(operation.Id);
            Assert.True(found != null || !operation.Durable || operation.MayLeave, $"{operation.Id} was durable and is gone");
            if (found == null)
            {
                expected.Operations.Remove(operation.Id);
                continue;
            }

            Assert.True(found.AcknowledgedAt != null || !operation.AcknowledgementDurable);
            operation.Acknowledged = found.AcknowledgedAt != null;
            if (!operation.Durable && found.State == LedgerState.NotStarted)
            {
                // Accepted a second time, and that was lost: the hash's chain is as it was before.
                operation.State = LedgerState.NotStarted;
            }
        }

        ReorderAs(survived);
    }

    /// <summary>A lost second acceptance also lost its place at the end.</summary>
    private void ReorderAs(OperationLedger survived)
    {
        var old = expected.Operations;
        expected = new ExpectedLedger();
        foreach (var operation in survived.Operations())
        {
            expected.Enter(operation.OperationId, old[operation.OperationId].Hash, old[operation.OperationId].State);
            expected.Operations[operation.OperationId].Acknowledged = old[operation.OperationId].Acknowledged;
        }
    }

    private void CopyFolder()
    {
        Note("copy of the ledger's folder");
        var copy = Path.Combine(root.Path, "copy-" + copies.Count);
        CopyAll(Folder, copy);
        var state = expected.Copy();
        state.LoseMemory();
        copies.Add((copy, state));
    }

    /// <summary>An older folder is restored, or the folder removed, while the Editor is closed.</summary>
    private void RollBack()
    {
        Vanish();
        Directory.Delete(Folder, true);
        if (copies.Count == 0 || random.Next(8) == 0)
        {
            Note("the ledger's folder is removed");
            expected = new ExpectedLedger();
        }
        else
        {
            var (folder, state) = copies[random.Next(copies.Count)];
            Note("rolled back to " + Path.GetFileName(folder));
            CopyAll(folder, Folder);
            expected = state.Copy();
        }

        StartProcess();
    }

    private static void CopyAll(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (var file in Directory.GetFiles(from).Where(file => !file.EndsWith(".lock")))
        {
            File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        }

        foreach (var folder in Directory.GetDirectories(from))
        {
            CopyAll(folder, Path.Combine(to, Path.GetFileName(folder)));
        }
    }
}
