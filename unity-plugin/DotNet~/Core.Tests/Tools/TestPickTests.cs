#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>What an expression chooses from a tree of tests: what Unity's test framework chooses with it.</summary>
public sealed class TestPickTests
{
    private static readonly TestTreeNode Jumps = Test("Game.Rules.Jumps");
    private static readonly TestTreeNode[] Cases = [Test("Game.Rules.Falls(1)"), Test("Game.Rules.Falls(2)")];
    private static readonly TestTreeNode Rules = Suite("Game.Rules", Jumps, Suite("Game.Rules.Falls", Cases));

    private static readonly TestTreeNode Fixtures =
        Suite("Game.Level", Suite("Game.Level(3)", Test("Game.Level(3).Loads")), Suite("Game.Level(4)", Test("Game.Level(4).Loads")));

    private static readonly TestTreeNode Manual =
        new("Game.Manual", true, TestNodeState.Explicit, children: [Test("Game.Manual.Burns"), Test("Game.Manual.Rests")]);

    private static readonly TestTreeNode Lone = new("Game.Slow.Lone", false, TestNodeState.Explicit, ["slow"]);

    private static readonly TestTreeNode Slow = Suite(
        "Game.Slow", new TestTreeNode("Game.Slow.Sleeps", false, categories: ["slow"]),
        new TestTreeNode("Game.Slow.Later", false, TestNodeState.Skipped, ["slow", "slower"]), Lone);

    private static readonly TestTreeNode Tree = Suite(
        "",
        new TestTreeNode("Game.Tests.dll", true, children: [Suite("Game", Rules, Fixtures, Manual, Slow)], isAssembly: true),
        new TestTreeNode("More.Tests.dll", true, children: [Suite("Game", Suite("Game.More", Test("Game.More.Adds")))], isAssembly: true));

    [Theory]
    // Of a method with several cases one, and by the method's own name all.
    [InlineData(@"Falls\(2\)$", 1, "Game.Rules.Falls(2)")]
    [InlineData("^Game.Rules.Falls$", 2, "Game.Rules.Falls")]
    // A fixture by its name, with its arguments, and without them.
    [InlineData(@"Level\(3\)", 1, "Game.Level(3)")]
    [InlineData("^Game.Level$", 2, "Game.Level")]
    // An assembly by its file's name; its namespace is in another one too.
    [InlineData(@"^More\.Tests\.dll$", 1, "Game.More")]
    // What is explicit runs where it is meant itself, and not with what is around it.
    [InlineData("^Game$", 7, "Game.Rules Game.Level Game.Slow.Sleeps Game.Slow.Later Game.More")]
    [InlineData("Burns", 1, "Game.Manual.Burns")]
    [InlineData("^Game.Manual$", 2, "Game.Manual.Burns Game.Manual.Rests")]
    [InlineData("Lone", 1, "Game.Slow.Lone")]
    [InlineData("Game.Slow", 2, "Game.Slow.Sleeps Game.Slow.Later Game.Slow.Lone")]
    // Without ^ and $, and with case.
    [InlineData("ump", 1, "Game.Rules.Jumps")]
    [InlineData("jump", 0, "")]
    [InlineData("(?i)jUMP", 1, "Game.Rules.Jumps")]
    // All but what fits.
    [InlineData("!Rules|Level|Manual", 2, "Game.Slow.Sleeps Game.Slow.Later Game.More")]
    [InlineData("!Slow.Sleeps", 6, "Game.Rules Game.Level Game.Slow.Later Game.More")]
    public void By_full_name(string expression, int count, string names) => Expect(TestFilterKind.Regex, expression, count, names);

    [Theory]
    [InlineData("^slow$", 2, "Game.Slow.Sleeps Game.Slow.Later Game.Slow.Lone")]
    [InlineData("slower", 0, "Game.Slow.Later")]
    [InlineData("fast", 0, "")]
    [InlineData("!slow", 6, "Game.Rules Game.Level Game.More")]
    public void By_category(string expression, int count, string names) =>
        Expect(TestFilterKind.Category, expression, count, names);

    [Fact]
    public void All_of_a_tree_without_explicit_tests_needs_no_names()
    {
        var tree = Suite("", Rules, Fixtures);
        Assert.Null(Pick(tree, TestFilterKind.Regex, ".").Names);
        Assert.Equal(5, Pick(tree, TestFilterKind.Regex, ".").Count);
        Assert.NotNull(Pick(tree, TestFilterKind.Regex, "Rules").Names);
        Assert.Empty(Pick(Suite(""), TestFilterKind.Regex, ".").Names!);
    }

    [Fact]
    public void A_suites_name_stands_only_for_what_is_chosen_everywhere()
    {
        // The same namespace in two assemblies, of which one has a test that is not meant.
        var tree = Suite(
            "", new TestTreeNode("A.dll", true, children: [Suite("Game", Test("Game.Ay"))], isAssembly: true),
            new TestTreeNode("B.dll", true, children: [Suite("Game", Test("Game.Bee"))], isAssembly: true));
        Assert.Equal(["Game.Ay"], Pick(tree, TestFilterKind.Regex, "Ay").Names);
    }

    [Fact]
    public void An_expression_that_takes_too_long_is_refused()
    {
        var error = Assert.Throws<ToolException>(() => Pick(Suite("", Test(new string('a', 60) + "!")), TestFilterKind.Regex, "^(a+)+$"));
        Assert.Equal("invalid_arguments", error.Type);
        Assert.StartsWith("FilterValue takes too long to match; write a simpler", error.Message);
    }

    [Fact]
    public void Many_comparisons_that_are_slow_together_are_refused_as_well()
    {
        var clock = new SlowerClock();
        var tree = Suite("", Enumerable.Range(0, 100).Select(at => Test("Game.Test" + at)).ToArray());
        var error = Assert.Throws<ToolException>(() => TestPick.From(tree, TestFilterKind.Regex, "Test", clock));
        Assert.Equal("invalid_arguments", error.Type);
        Assert.InRange(clock.Looks, 10, 40);
    }

    private static void Expect(TestFilterKind kind, string expression, int count, string names)
    {
        var picked = Pick(Tree, kind, expression);
        var expected = names.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(expected.OrderBy(name => name), picked.Names!.OrderBy(name => name));
        Assert.Equal(count, picked.Count);
    }

    private static PickedTests Pick(TestTreeNode tree, TestFilterKind kind, string expression) =>
        TestPick.From(tree, kind, expression, new FixedClock());

    private static TestTreeNode Test(string name) => new(name, false);

    private static TestTreeNode Suite(string name, params TestTreeNode[] children) => new(name, true, children: children);

    /// <summary>Each look at it takes 100 ms.</summary>
    private sealed class SlowerClock : IClock
    {
        public int Looks { get; private set; }

        public long NowMs => 0;

        public long ElapsedMs => 100 * ++Looks;
    }
}
