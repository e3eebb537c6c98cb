using System.Collections.Generic;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

/// <summary>A Package Manager whose answers and registered packages the test sets.</summary>
public sealed class ScriptedPackages : IPackages
{
    public List<InstalledPackage> Registered { get; } = new()
    {
        new("com.unity.ugui", "1.0.0", "BuiltIn", "com.unity.ugui@1.0.0", true),
        new("com.studio.rocks", "2.0.0", "Registry", "com.studio.rocks@2.0.0", true),
        new("com.studio.base", "1.1.0", "Registry", "com.studio.base@1.1.0", false),
        new("com.studio.local", "0.1.0", "Embedded", "com.studio.local@file:local", true),
        new("com.studio.tool", "3.0.0", "Git", "com.studio.tool@https://joe:secret@git.example/tool.git#main", true),
    };

    /// <summary>What it was asked for: once each, whatever happens.</summary>
    public List<string> Asked { get; } = new();

    public PackageRequest Request { get; set; } = new(PackageRequestState.Running);

    /// <summary>How often the installed ones were asked for.</summary>
    public int Reads { get; private set; }

    public IReadOnlyList<InstalledPackage> Installed()
    {
        Reads++;
        return Registered.ToArray();
    }

    public void BeginAdd(string id) => Asked.Add("add " + id);

    public void BeginRemove(string name) => Asked.Add("remove " + name);

    public PackageRequest Poll() => Request;

    public void Register(string name, string version, string source = "Registry", string? id = null)
    {
        Registered.RemoveAll(one => one.Name == name);
        Registered.Add(new InstalledPackage(name, version, source, id ?? $"{name}@{version}", true));
    }
}
