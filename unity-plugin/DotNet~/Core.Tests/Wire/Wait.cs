#nullable enable
using System;
using System.Diagnostics;
using System.Threading;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

internal static class Wait
{
    /// <summary>
    /// Waits for something that another thread brings about; fails after a time that no machine needs.
    /// </summary>
    public static void Until(Func<bool> condition, string what)
    {
        var clock = Stopwatch.StartNew();
        while (!condition())
        {
            Assert.True(clock.ElapsedMilliseconds < 60_000, "never came: " + what);
            Thread.Sleep(2);
        }
    }
}
