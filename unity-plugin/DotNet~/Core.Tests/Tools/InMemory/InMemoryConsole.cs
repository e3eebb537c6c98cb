using System;
using System.Collections.Generic;
using System.Linq;
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

    /// <summary>What the Editor's own Console has; taken once.</summary>
    public ConsoleLine[]? Entries { get; set; }

    /// <summary>Happens while the Console is read.</summary>
    public Action? WhileReading { get; set; }

    public IReadOnlyList<ConsoleLine>? TakeEntries(int most)
    {
        var taken = Entries;
        Entries = null;
        WhileReading?.Invoke();
        return taken?.TakeLast(most).ToList();
    }

    public int Clear() => Interlocked.Exchange(ref lines, 0);
}
