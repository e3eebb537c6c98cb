#nullable enable
using System.Collections.Concurrent;

namespace JobBroker.Bridge.Tests.Wire;

/// <summary>What was logged, in order.</summary>
internal sealed class WireLog : IBridgeLog
{
    public ConcurrentQueue<string> Lines { get; } = new();

    public void Info(string message) => Lines.Enqueue(message);

    public void Warn(string message) => Lines.Enqueue(message);
}
