#nullable enable
using System.Collections.Generic;
using System.IO;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;

namespace JobBroker.Bridge.Tests.Window;

/// <summary>A bridge whose status a test writes; it remembers what was asked of it.</summary>
internal sealed class ScriptedControl : IBridgeControl
{
    public BridgeStatus Now { get; set; } = new();

    public IReadOnlyList<RegisteredTool> All { get; set; } = [];

    public List<string> Asked { get; } = [];

    public BridgeStatus Status() => Now;

    public IReadOnlyList<RegisteredTool> Tools() => All;

    public void Start() => Asked.Add("start");

    public void Stop() => Asked.Add("stop");

    public void HandOver() => Asked.Add("hand over");
}

/// <summary>Settings in memory, on a disk that may be full.</summary>
internal sealed class MemorySettings : IBridgeSettings
{
    public BridgeSettings Current { get; private set; } = new();

    public SecuritySnapshot Security => Current.Security();

    public bool IsDiskFull { get; set; }

    public void Change(BridgeSettings settings)
    {
        if (IsDiskFull) throw new IOException("no space left");
        Current = settings;
    }
}

internal sealed class Silent : IBridgeLog
{
    public void Info(string message)
    {
    }

    public void Warn(string message)
    {
    }
}
