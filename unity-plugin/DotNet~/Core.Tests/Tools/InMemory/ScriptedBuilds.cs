using System;
using System.Collections.Generic;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

public sealed class ScriptedBuilds : IBuildRunner
{
    public string ActiveTarget { get; set; } = "StandaloneLinux64";

    public IReadOnlyList<string> SupportedTargets { get; set; } = new[] { "StandaloneLinux64", "Android" };

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
