#nullable enable
using System;
using System.IO;
using System.Runtime.Versioning;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Tests.Adapter;

/// <summary>A program that says its process id in a file and then does nothing for ever.</summary>
[UnsupportedOSPlatform("windows")]
internal sealed class HangingProgram : IDisposable
{
    private readonly string folder = Directory.CreateTempSubdirectory("jb-hang-").FullName;
    private readonly FileSystemWatcher watcher;
    private readonly TaskCompletionSource<int> started = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public HangingProgram()
    {
        Path = System.IO.Path.Combine(folder, "program");
        var idFile = System.IO.Path.Combine(folder, "pid");
        // Under its final name only when it is whole.
        File.WriteAllText(Path, $"#!/bin/sh\necho $$ > {idFile}.new\nmv {idFile}.new {idFile}\nexec sleep 1000\n");
        File.SetUnixFileMode(Path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        watcher = new FileSystemWatcher(folder, "pid");
        watcher.Renamed += (_, _) => started.TrySetResult(int.Parse(File.ReadAllText(idFile)));
        watcher.EnableRaisingEvents = true;
    }

    public string Path { get; }

    /// <summary>Its process id, once it runs.</summary>
    public Task<int> Started => started.Task.WaitAsync(TimeSpan.FromSeconds(60));

    /// <summary>Not for one that has ended and was not waited for yet.</summary>
    public static bool IsAlive(int pid)
    {
        try
        {
            return !File.ReadAllText($"/proc/{pid}/stat").Split(' ')[2].Equals("Z", StringComparison.Ordinal);
        }
        catch (Exception error) when (error is FileNotFoundException or DirectoryNotFoundException or IOException)
        {
            return false;
        }
    }

    public void Dispose()
    {
        watcher.Dispose();
        Directory.Delete(folder, true);
    }
}
