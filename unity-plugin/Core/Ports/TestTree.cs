#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    public enum TestNodeState
    {
        Runnable,

        /// <summary>Runs only where the filter means it itself, or something in it.</summary>
        Explicit,

        /// <summary>Ignored, or it cannot run: it is reported without being run.</summary>
        Skipped,
    }

    /// <summary>A test, or a suite of tests: a fixture, a method with several cases, a namespace, an assembly.</summary>
    public sealed class TestTreeNode
    {
        public TestTreeNode(
            string name,
            bool isSuite,
            TestNodeState state = TestNodeState.Runnable,
            IReadOnlyList<string>? categories = null,
            IReadOnlyList<TestTreeNode>? children = null,
            bool isAssembly = false)
        {
            Name = name;
            IsSuite = isSuite;
            State = state;
            Categories = categories ?? Array.Empty<string>();
            Children = children ?? Array.Empty<TestTreeNode>();
            IsAssembly = isAssembly;
        }

        /// <summary>What the framework compares a filter with: the full name, of an assembly its file's name; empty for the root.</summary>
        public string Name { get; }

        public bool IsSuite { get; }

        public TestNodeState State { get; }

        /// <summary>With those of the suites that it is in.</summary>
        public IReadOnlyList<string> Categories { get; }

        public IReadOnlyList<TestTreeNode> Children { get; }

        public bool IsAssembly { get; }
    }

    /// <summary>The tests that were chosen from the tree.</summary>
    public sealed class PickedTests
    {
        public PickedTests(int count, IReadOnlyList<string>? names)
        {
            Count = count;
            Names = names;
        }

        /// <summary>How many of them run.</summary>
        public int Count { get; }

        /// <summary>
        /// Exact names for the framework's filter; that of a suite stands for all that is in it. Null when all tests are meant,
        /// empty when none is.
        /// </summary>
        public IReadOnlyList<string>? Names { get; }
    }
}
