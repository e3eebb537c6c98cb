#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Reloads;

/// <summary>What an Editor keeps outside of its script domains (SessionState).</summary>
public sealed class NativeSession : MarshalByRefObject, ISessionStore
{
    private readonly Dictionary<string, string> values = new();

    public string? Get(string key) => values.TryGetValue(key, out var value) ? value : null;

    public void Set(string key, string? value)
    {
        if (value == null) values.Remove(key);
        else values[key] = value;
    }

    /// <summary>It lives as long as the process.</summary>
    public override object? InitializeLifetimeService() => null;
}
