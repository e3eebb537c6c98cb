#nullable enable
using JobBroker.Bridge.Adapter;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

/// <summary>When a test run is over: by what a test framework of 1.1 and one of 1.4 shows.</summary>
public sealed class TestRunWatchTests
{
    [Theory]
    // The framework tells the end of the tests, then restores scenes (the job is there), then leaves play mode.
    [InlineData(false, "tell", true, false, 0, TestRunState.CleaningUp)]
    [InlineData(false, "tell", false, false, 0, TestRunState.Ended)]
    [InlineData(true, "tell", false, true, 0, TestRunState.CleaningUp)]
    [InlineData(true, "tell", true, true, 59_999, TestRunState.CleaningUp)]
    [InlineData(true, "tell", true, true, 60_000, TestRunState.Ended)]
    [InlineData(false, "tell", null, false, 0, TestRunState.Ended)]
    // Nothing told yet.
    [InlineData(false, "", true, false, 3_600_000, TestRunState.Running)]
    [InlineData(false, "", null, false, 3_600_000, TestRunState.Running)]
    [InlineData(true, "", false, true, 3_600_000, TestRunState.Running)]
    [InlineData(true, "", false, false, 9_999, TestRunState.Running)]
    [InlineData(true, "", false, false, 10_000, TestRunState.Vanished)]
    // An EditMode run does not live by play mode: a person plays.
    [InlineData(false, "", false, true, 10_000, TestRunState.Vanished)]
    public void What_is_seen_of_it_says_how_far_it_is(
        bool playsToRun, string told, bool? hasJob, bool isPlaying, long after, TestRunState expected)
    {
        var watch = new TestRunWatch(playsToRun, false, 0);
        if (told == "tell") watch.Tell(0);
        Assert.Equal(expected, watch.Look(hasJob, isPlaying, after));
    }

    [Fact]
    public void Its_time_to_be_picked_up_begins_when_it_was_seen_last()
    {
        var watch = new TestRunWatch(true, false, 0);
        Assert.Equal(TestRunState.Running, watch.Look(true, false, 100_000));
        Assert.Equal(TestRunState.Running, watch.Look(false, false, 109_999));
        Assert.Equal(TestRunState.Running, watch.Look(false, true, 109_999));
        Assert.Equal(TestRunState.Running, watch.Look(false, false, 119_998));
        Assert.Equal(TestRunState.Vanished, watch.Look(false, false, 119_999));
    }

    [Fact]
    public void Its_clean_up_is_counted_from_the_first_telling_also_over_a_reload()
    {
        var watch = new TestRunWatch(false, true, 1_000);
        watch.Tell(50_000);
        Assert.Equal(TestRunState.CleaningUp, watch.Look(true, false, 60_999));
        Assert.Equal(TestRunState.Ended, watch.Look(true, false, 61_000));
    }
}
