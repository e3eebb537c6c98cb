#nullable enable
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

public sealed class TestSelectionTests
{
    [Theory]
    [InlineData(TestFilterKind.All, "", true)]
    [InlineData(TestFilterKind.Exact, "Game.Rules.Jumps", true)]
    [InlineData(TestFilterKind.Exact, "Game.Rules", true)]
    [InlineData(TestFilterKind.Exact, "Game.Rule", false)]
    [InlineData(TestFilterKind.Regex, "R.les", true)]
    [InlineData(TestFilterKind.Regex, "^Rules", false)]
    [InlineData(TestFilterKind.Assembly, "game.tests", true)]
    [InlineData(TestFilterKind.Assembly, "Game.Tests.dll", true)]
    [InlineData(TestFilterKind.Assembly, "Game", false)]
    [InlineData(TestFilterKind.Category, "fast", true)]
    [InlineData(TestFilterKind.Category, "fas", false)]
    public void Means_what_the_framework_runs(TestFilterKind kind, string value, bool expected) =>
        Assert.Equal(expected, TestSelection.Means(kind, value, "Game.Rules.Jumps", ["slow", "fast"], "Library/Game.Tests.dll"));
}
