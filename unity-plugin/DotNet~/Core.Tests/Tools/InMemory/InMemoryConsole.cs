using System;
using System.Threading;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

public sealed class InMemoryConsole : IConsole
{
    private int lines;

    public event Action<ConsoleLine>? LineWritten;

    /// <summary>How many listen: a tool that has ended must not be among them.</summary>
    public int Listeners => LineWritten?.GetInvocationList().Length ?? 0;

    public void Write(string message, ConsoleLineType type = ConsoleLineType.Log, string stackTrace = "", long atMs = 0)
    {
        Interlocked.Increment(ref lines);
        LineWritten?.Invoke(new ConsoleLine(type, message, stackTrace, atMs));
    }

    public int Clear() => Interlocked.Exchange(ref lines, 0);
}
