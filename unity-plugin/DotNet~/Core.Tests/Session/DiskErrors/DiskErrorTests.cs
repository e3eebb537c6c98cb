#nullable enable
using System;
using System.Linq;
using Xunit;
using Xunit.Abstractions;

namespace JobBroker.Bridge.Tests.Session.DiskErrors;

/// <summary>
/// One life of a bridge, with an error at the first, the second, … call to the disk, until that life needs no more calls.
/// What is expected of each step stands in <see cref="DiskErrorLife.Table"/>. The short form takes one error at each call,
/// the next one of the list each time; the long form takes all of them.
/// </summary>
public sealed class DiskErrorTests(ITestOutputHelper output)
{
    private static readonly Func<DiskStep, int, DiskError>[] Errors =
    [
        (step, nth) => new DiskError(step, nth, ErrorDisk.Broken, false, false),
        (step, nth) => new DiskError(step, nth, ErrorDisk.Full, false, true),
        (step, nth) => new DiskError(step, nth, ErrorDisk.Full, true, false),
        (step, nth) => new DiskError(step, nth, ErrorDisk.Broken, false, true),
        (step, nth) => new DiskError(step, nth, ErrorDisk.Full, false, false),
        (step, nth) => new DiskError(step, nth, ErrorDisk.Full, true, true),
    ];

    [Trait(LongForm.Trait, LongForm.Exhaustive)]
    [Theory]
    [InlineData("Open", 20)]
    [InlineData("Write", 20)]
    [InlineData("Flush", 15)]
    [InlineData("Rename", 5)]
    public void Whatever_call_to_the_disk_fails_each_step_answers_as_declared(string kind, int atLeast)
    {
        var step = (DiskStep)Enum.Parse(typeof(DiskStep), kind);
        var cases = 0;
        var nth = 0;
        for (var struck = true; struck;)
        {
            nth++;
            struck = false;
            foreach (var error in LongForm.IsAsked ? Errors : [Errors[nth % Errors.Length]])
            {
                struck |= Live(error(step, nth));
                cases++;
            }
        }

        output.WriteLine($"{step}: {nth - 1} calls, {cases} cases");
        Assert.True(nth > atLeast, $"only {nth - 1} calls were met");
    }

    /// <summary>Whether the error struck.</summary>
    private static bool Live(DiskError error)
    {
        using var life = new DiskErrorLife(error);
        try
        {
            life.Live();
            return life.Struck;
        }
        catch (Exception failure)
        {
            var story = string.Join("\n", life.Story.Select(line => "  " + line));
            throw new InvalidOperationException($"{error}\n{failure.Message}\n{story}", failure);
        }
    }
}
