#nullable enable
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>What Unity hands back of a build, and when it hands back nothing.</summary>
public sealed class BuildReportTests
{
    [Fact]
    public void A_build_without_a_report_has_failed()
    {
        _ = new StubbedEditor();
        StubEditor.Build = _ => null!;

        var outcome = new UnityBuilds(() => { }).Build(new BuildRequest("android", "/out/game.apk", false, []), (_, _) => { });

        Assert.False(outcome.Succeeded);
        Assert.Equal(1, outcome.Errors);
        Assert.Contains("without a report", Assert.Single(outcome.Messages));
        Assert.Empty(outcome.Files);
    }
}
