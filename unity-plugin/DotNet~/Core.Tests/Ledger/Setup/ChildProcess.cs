using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>A process of Core.Tests.Child; killed, like everything it was, when the test ends.</summary>
internal sealed class ChildProcess : IDisposable
{
    private readonly Process process;

    private readonly List<string> lines = new();

    private ChildProcess(Process process)
    {
        this.process = process;
    }

    public int Id => process.Id;

    /// <summary>The child's own program; what runs it is <see cref="TestRuntime.Program"/>.</summary>
    public static string Assembly => Path.Combine(AppContext.BaseDirectory, TestRuntime.Child);

    /// <summary>Starts it as it is.</summary>
    public static ChildProcess Start(params string[] arguments) => Start(TestRuntime.Program, arguments.Prepend(Assembly));

    /// <summary>Starts it behind another command.</summary>
    public static ChildProcess Start(string command, IEnumerable<string> arguments)
    {
        var info = new ProcessStartInfo(command) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var argument in arguments)
        {
            info.ArgumentList.Add(argument);
        }

        // Its double mapping of code is a file of gigabytes that a limit of file sizes would forbid.
        info.Environment["DOTNET_EnableWriteXorExecute"] = "0";
        info.Environment["DOTNET_EnableDiagnostics"] = "0";
        return new ChildProcess(Process.Start(info)!);
    }

    /// <summary>Waits for a line; throws with what it wrote when it ends before.</summary>
    public string Line() => process.StandardOutput.ReadLine()
        ?? throw new InvalidOperationException("The child ended early: " + process.StandardError.ReadToEnd());

    /// <summary>Everything that it still writes until it ends.</summary>
    public IReadOnlyList<string> Rest()
    {
        while (process.StandardOutput.ReadLine() is { } line)
        {
            lines.Add(line);
        }

        process.WaitForExit();
        return lines;
    }

    public string Errors() => process.StandardError.ReadToEnd();

    /// <summary>kill -9</summary>
    public void Kill()
    {
        process.Kill();
        process.WaitForExit();
    }

    public void Dispose()
    {
        if (!process.HasExited)
        {
            process.Kill(true);
            process.WaitForExit();
        }

        process.Dispose();
    }
}
