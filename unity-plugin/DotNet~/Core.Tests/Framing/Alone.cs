#nullable enable
using Xunit;

namespace JobBroker.Bridge.Tests.Framing;

/// <summary>For tests that measure the whole process: its memory, its threads, its time.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class Alone
{
    public const string Name = "alone: framing and wire";
}
