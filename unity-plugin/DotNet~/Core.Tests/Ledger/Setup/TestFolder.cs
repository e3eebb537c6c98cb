using System;
using System.IO;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>A folder of its own for a test, removed behind it.</summary>
internal sealed class TestFolder : IDisposable
{
    /// <param name="inMemory">On a file system in memory where there is one: for thousands of real files.</param>
    public TestFolder(bool inMemory = false)
    {
        var parent = inMemory && Directory.Exists("/dev/shm") ? "/dev/shm" : System.IO.Path.GetTempPath();
        Path = System.IO.Path.Combine(parent, "job-broker-ledger-" + Guid.NewGuid().ToString("N"));
        Directory.CreateDirectory(Path);
    }

    public string Path { get; }

    public string Journal => System.IO.Path.Combine(Path, "ledger.log");

    public string Results => System.IO.Path.Combine(Path, "results");

    public void Dispose()
    {
        Directory.Delete(Path, true);
    }
}
