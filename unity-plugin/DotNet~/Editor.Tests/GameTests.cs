#nullable enable
using System.Collections.Generic;
using JobBroker.Bridge.Ports;
using UnityEditor.TestTools.TestRunner.Api;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>The tests of a project, and the listener of a run of them.</summary>
internal sealed class GameTests : ITestRunListener
{
    public static readonly TestNode Jumps = new("Game.Jumps");
    public static readonly TestNode Falls = new("Game.Falls");
    public static readonly TestNode Tree = new(
        "Game",
        new TestNode("Game.Tests.dll", new TestNode("Game", Jumps, Falls, new TestNode("Game.Manual") { RunState = RunState.Explicit }))
        {
            IsTestAssembly = true,
        });

    public List<string> Reported { get; } = [];

    /// <summary>Of the tests that ended.</summary>
    public List<string> Classes { get; } = [];

    public static TestRunRequest Request(TestFilterKind kind, string value, TestPlatform platform = TestPlatform.EditMode) =>
        new("operation-1", platform, kind, value);

    public void Started(int totalCases) => Reported.Add($"started {totalCases}");

    public void Finished(TestCaseResult testCase)
    {
        Reported.Add($"{testCase.FullName} {testCase.Verdict} {testCase.Message}");
        Classes.Add(testCase.ClassName);
    }
}
