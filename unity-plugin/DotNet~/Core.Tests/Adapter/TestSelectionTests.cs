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
    [InlineData(TestFilterKind.Assembly, "game.tests", true)]
    [InlineData(TestFilterKind.Assembly, "Game.Tests.dll", true)]
    [InlineData(TestFilterKind.Assembly, "Game", false)]
    public void Means_what_the_framework_runs(TestFilterKind kind, string value, bool expected) =>
        Assert.Equal(expected, TestSelection.Means(kind, value, "Game.Rules.Jumps", "Library/Game.Tests.dll"));

    [Theory]
    [InlineData("Game.Adds(1)", -1, "Game.Adds(1)")]
    [InlineData("Game.Adds(Pair GeneratedTestCase2)", 2, "Game.Adds(Pair)")]
    [InlineData("Game.Adds GeneratedTestCase12", 12, "Game.Adds")]
    [InlineData("Game.Adds(Pair GeneratedTestCase2)", 3, "Game.Adds(Pair GeneratedTestCase2)")]
    public void The_number_of_a_generated_case_is_no_part_of_its_name(string fullName, int childIndex, string expected) =>
        Assert.Equal(expected, TestSelection.FilterName(fullName, childIndex));
}
