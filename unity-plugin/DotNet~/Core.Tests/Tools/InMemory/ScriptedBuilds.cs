using System;
using System.Collections.Generic;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

public sealed class ScriptedBuilds : IBuildRunner
{
    public string ActiveTarget { get; set; } = "StandaloneLinux64";

    public string? PlayerExtension { get; set; }

    public IReadOnlyList<string> SupportedTargets { get; set; } = new[] { "StandaloneLinux64", "Android" };

    public IReadOnlyList<string>? Profiles { get; set; }

    public string? ActiveProfile { get; set; }

    /// <summary>What the Editor was asked to switch to.</summary>
    public List<string> Switches { get; } = new();

    /// <summary>Unity's reason against every switch.</summary>
    public string? SwitchRefusal { get; set; }

    /// <summary>False where a switch is only asked for.</summary>
    public bool SwitchesAtOnce { get; set; } = true;

    public string? Switch(string target)
    {
        Switches.Add(target);
        if (SwitchesAtOnce && SwitchRefusal == null) ActiveTarget = target;
        return SwitchRefusal;
    }

    public string? SwitchToProfile(string path)
    {
        Switches.Add(path);
        if (SwitchesAtOnce && SwitchRefusal == null) ActiveProfile = path;
        return SwitchRefusal;
    }

    public List<BuildRequest> Built { get; } = new();

    /// <summary>The steps that the build reports.</summary>
    public List<(string Step, double Fraction)> Steps { get; } = new();

    public Func<BuildRequest, BuildOutcome> Outcome { get; set; } = request => new BuildOutcome(
        true, "Succeeded", request.OutputPath, 1234, 2.5, 0, 1, new[] { "warning: old API" });

    public BuildOutcome Build(BuildRequest request, Action<string, double> step)
    {
        Built.Add(request);
        foreach (var (name, fraction) in Steps) step(name, fraction);
        return Outcome(request);
    }
}
