#nullable enable
using System;
using System.Collections.Generic;
using System.IO;

namespace JobBroker.Bridge.Tests.Session.DiskErrors;

/// <summary>One fault: the n-th call of a kind fails, once or with all that follow.</summary>
internal sealed record DiskError(DiskStep Step, int Nth, string Reason, bool IsShort, bool Lasts)
{
    public override string ToString() =>
        $"{Step} {Nth}: {Reason}{(IsShort ? ", half of it written" : "")}{(Lasts ? ", and it stays so" : "")}";
}

/// <summary>A disk with one <see cref="DiskError"/>. It knows what a power cut would leave of the journal.</summary>
internal sealed class ErrorDisk : IDisposable
{
    public const string Full = "No space left on device";
    public const string Broken = "Input/output error";

    private readonly object gate = new();
    private readonly DiskError error;
    private readonly Func<string, bool> isOurs;
    private readonly Dictionary<string, long> flushed = new();
    private int calls;
    private bool isRepaired;

    public ErrorDisk(DiskError error, Func<string, bool> isOurs)
    {
        this.error = error;
        this.isOurs = isOurs;
        Disk.Before += Ask;
    }

    /// <summary>Where it struck; null while it has not.</summary>
    public string? StruckAt { get; private set; }

    /// <summary>Everything fails now.</summary>
    public bool IsFailing => StruckAt != null && error.Lasts && !isRepaired;

    public void Repair()
    {
        lock (gate) isRepaired = true;
    }

    /// <summary>How much of a file survives a power cut.</summary>
    public long FlushedBytes(string path)
    {
        lock (gate) return flushed.TryGetValue(path, out var bytes) ? bytes : 0;
    }

    public void Dispose() => Disk.Before -= Ask;

    private void Ask(DiskStep step, string path, Action? half)
    {
        if (!isOurs(path)) return;
        lock (gate)
        {
            if (Strikes(step))
            {
                StruckAt ??= path;
                if (error.IsShort) half?.Invoke();
                throw new IOException(error.Reason);
            }
            // A file without a buffer holds by now all that the flush will be of.
            if (step == DiskStep.Flush && File.Exists(path)) flushed[path] = new FileInfo(path).Length;
            if (step == DiskStep.Rename && flushed.TryGetValue(path + ".tmp", out var bytes)) flushed[path] = bytes;
        }
    }

    private bool Strikes(DiskStep step)
    {
        if (isRepaired) return false;
        if (StruckAt != null) return error.Lasts && step != DiskStep.Open;
        return step == error.Step && ++calls == error.Nth;
    }
}
