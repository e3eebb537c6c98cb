#nullable enable
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

/// <summary>The bridge's threads as the operating system sees them.</summary>
internal static class ThreadsOfTheBridge
{
    /// <summary>Ids of living threads whose name begins as ours do.</summary>
    public static HashSet<string> Ids()
    {
        var found = new HashSet<string>();
        foreach (var task in Directory.GetDirectories("/proc/self/task"))
        {
            try
            {
                var name = File.ReadAllText(Path.Combine(task, "comm"));
                if (name.StartsWith(BridgeThread.NamePrefix)) found.Add(Path.GetFileName(task));
            }
            catch (IOException)
            {
                // Ended meanwhile.
            }
        }
        return found;
    }

    /// <summary>
    /// None but those that were there before. A joined thread may stand in the list of the system for a moment longer.
    /// </summary>
    public static void AssertOnly(HashSet<string> before)
    {
        var clock = Stopwatch.StartNew();
        while (Ids().Except(before).Any())
        {
            Assert.True(clock.ElapsedMilliseconds < 60_000, "threads left: " + string.Join(", ", Ids().Except(before)));
        }
    }
}
