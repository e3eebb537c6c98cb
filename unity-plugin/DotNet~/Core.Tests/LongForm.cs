using System;

namespace JobBroker.Bridge.Tests;

/// <summary>Some tests have a short form and a long one, with more of the same: <c>LONG_FORM=1 dotnet test</c>.</summary>
internal static class LongForm
{
    public static readonly bool IsAsked = Environment.GetEnvironmentVariable("LONG_FORM") == "1";
}
