#nullable enable
using System;
using System.IO;
using System.Linq;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>The disk below one folder, which refuses what it is told to.</summary>
internal sealed class FaultyDisk : IDisposable
{
    /// <summary>ENOSPC</summary>
    public const string Full = "No space left on device";

    private readonly string folder;

    private readonly Action<DiskStep, string, Action?> refuse;

    /// <summary>Asks before each call below the folder; what that throws, the call throws.</summary>
    public FaultyDisk(string folder, Action<DiskStep, string, Action?> refuse)
    {
        this.folder = folder;
        this.refuse = refuse;
        Disk.Before += Ask;
    }

    /// <summary>Refuses these steps, all of them if none is named, while it is <see cref="Broken"/>.</summary>
    public FaultyDisk(string folder, params DiskStep[] steps)
    {
        this.folder = folder;
        refuse = (step, _, _) =>
        {
            if (Broken && (steps.Length == 0 || steps.Contains(step))) throw new IOException(Full);
        };
        Disk.Before += Ask;
    }

    public bool Broken { get; set; }

    public void Dispose() => Disk.Before -= Ask;

    private void Ask(DiskStep step, string path, Action? half)
    {
        if (path.StartsWith(folder, StringComparison.Ordinal)) refuse(step, path, half);
    }
}
