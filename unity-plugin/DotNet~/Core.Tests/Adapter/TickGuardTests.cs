#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Tests.Wire;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

public sealed class TickGuardTests
{
    [Fact]
    public void A_part_that_throws_stops_no_other_and_each_fault_is_logged_once()
    {
        var log = new WireLog();
        var guard = new TickGuard(log);
        var ran = new List<string>();
        for (var tick = 0; tick < 3; tick++)
        {
            guard.Run("first", () => throw new FormatException("bad"));
            guard.Run("second", () => ran.Add("second"));
        }
        guard.Run("first", () => throw new FormatException("worse"));

        Assert.Equal(["second", "second", "second"], ran);
        Assert.Collection(
            log.Lines,
            line => Assert.Contains("(first) has failed: System.FormatException: bad", line),
            line => Assert.Contains("worse", line));
    }
}
