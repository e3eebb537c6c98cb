using System;
using System.Collections.Generic;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

public sealed class InMemoryMenu : IMenu
{
    private readonly Dictionary<string, Action> actions = new();

    public List<MenuItemEntry> Listed { get; } = new();

    public List<string> Executed { get; } = new();

    public void Add(string path, Action? action = null, int priority = 0)
    {
        Listed.Add(new MenuItemEntry(path, null, null, false, priority));
        actions[path] = action ?? (() => { });
    }

    public IReadOnlyList<MenuItemEntry> List() => Listed;

    public bool Execute(string path)
    {
        if (!actions.TryGetValue(path, out var action)) return false;
        Executed.Add(path);
        action();
        return true;
    }
}
