using JobBroker.Bridge;

namespace JobBroker.EditorHost.Domain;

/// <summary>Faults that are asked for: the disk below the ledger's folder refuses, or is slow.</summary>
internal sealed class LedgerDisk : IDisposable
{
    private readonly Func<string?> folder;
    private readonly ManualResetEventSlim delaysEnded = new();
    private volatile bool isBroken;
    private volatile int flushMs;

    public LedgerDisk(Func<string?> folder)
    {
        this.folder = folder;
        Disk.Before += Ask;
    }

    public bool IsBroken
    {
        set => isBroken = value;
    }

    /// <summary>Milliseconds that each flush takes longer.</summary>
    public int FlushMs
    {
        set => flushMs = value;
    }

    /// <summary>Nothing waits any more: the script domain ends.</summary>
    public void EndDelays() => delaysEnded.Set();

    public void Dispose() => Disk.Before -= Ask;

    private void Ask(DiskStep step, string path, Action? half)
    {
        if (folder() is not { } below || !path.StartsWith(below, StringComparison.Ordinal)) return;
        if (isBroken) throw new IOException("No space left on device (a fault that was asked for)");
        if (step == DiskStep.Flush && flushMs > 0) delaysEnded.Wait(flushMs);
    }
}
