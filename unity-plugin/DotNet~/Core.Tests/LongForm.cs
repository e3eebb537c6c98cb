using System;

namespace JobBroker.Bridge.Tests;

/// <summary>Some tests have a short form and a long one, with more of the same: <c>LONG_FORM=1 dotnet test</c>.</summary>
internal static class LongForm
{
    public static readonly bool IsAsked = Environment.GetEnvironmentVariable("LONG_FORM") == "1";

    /// <summary>A test that goes through every case of one rule. A run on a second runtime may leave it out.</summary>
    public const string Exhaustive = "exhaustive";

    public const string Trait = "Form";
}
