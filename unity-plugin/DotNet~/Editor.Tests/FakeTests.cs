#nullable enable
using System.Collections.Generic;
using System.Linq;
using UnityEditor.TestTools.TestRunner.Api;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>A node of the framework's tree of tests.</summary>
internal sealed class TestNode : ITestAdaptor
{
    public TestNode(string fullName, params TestNode[] children)
    {
        FullName = fullName;
        Children = children;
        foreach (var child in children) child.Parent = this;
    }

    public string Name => FullName.Split('/')[^1];

    public string FullName { get; }

    public string UniqueName => "unique " + FullName;

    public bool IsSuite => Children.Any();

    public ITestAdaptor Parent { get; private set; } = null!;

    public object TypeInfo { get; init; } = null!;

    public bool IsTestAssembly { get; init; }

    public IEnumerable<ITestAdaptor> Children { get; }

    public string[] Categories { get; init; } = [];

    public RunState RunState { get; init; } = RunState.Runnable;

    public int ChildIndex { get; init; } = -1;
}

internal sealed class TestEnd(TestNode test, TestStatus status, string? message = null) : ITestResultAdaptor
{
    public ITestAdaptor Test => test;

    public string FullName => test.FullName;

    public TestStatus TestStatus => status;

    public double Duration => 0.5;

    // The framework has null where there is nothing to say.
    public string Message => message!;

    public string StackTrace => null!;
}
