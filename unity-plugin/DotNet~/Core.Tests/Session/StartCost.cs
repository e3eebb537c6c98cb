#nullable enable
using System.Diagnostics;
using System.Runtime.InteropServices;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>What a start of the bridge costs, up to now. Read on the thread that is the main one.</summary>
internal sealed class StartCost
{
    /// <summary>CLOCK_THREAD_CPUTIME_ID of Linux.</summary>
    private const int OfThisThread = 3;

    private readonly Stopwatch wall = Stopwatch.StartNew();
    private readonly double thread = ThreadMs();
    private readonly double process = ProcessMs();

    /// <summary>The time that passed, other processes' included.</summary>
    public double Milliseconds => wall.Elapsed.TotalMilliseconds;

    /// <summary>What the main thread computed; the same on a busy machine as on an idle one. 0 where it is not known.</summary>
    public double MainThreadMs => ThreadMs() - thread;

    /// <summary>What all threads of the process computed.</summary>
    public double ProcessorMs => ProcessMs() - process;

    private static double ThreadMs()
    {
        if (!RuntimeInformation.IsOSPlatform(OSPlatform.Linux)) return 0;
        return Gettime(OfThisThread, out var time) == 0 ? (time.Seconds * 1000.0) + (time.Nanoseconds / 1e6) : 0;
    }

    private static double ProcessMs()
    {
        using var process = Process.GetCurrentProcess();
        return process.TotalProcessorTime.TotalMilliseconds;
    }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    private static extern int Gettime(int clock, out Time time);

    [StructLayout(LayoutKind.Sequential)]
    private struct Time
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
