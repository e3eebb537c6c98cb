using System;
using System.Linq;
using Xunit;
using Xunit.Abstractions;

namespace JobBroker.Bridge.Tests.Ledger.Model;

/// <summary>
/// Random lives of an Editor. JOB_BROKER_MODEL_SEED repeats one sequence; the long form plays more.
///
/// Not defended, and so not in the model: a ledger rolled back to a copy from between accepted and running whose begin
/// no worker saw, and a store that is rolled back together with the ledger.
/// </summary>
public sealed class ModelTests(ITestOutputHelper output)
{
    [Trait(LongForm.Trait, LongForm.Exhaustive)]
    [Fact]
    public void No_operation_is_begun_twice_whatever_happens_in_whatever_order()
    {
        var given = Environment.GetEnvironmentVariable("JOB_BROKER_MODEL_SEED");
        var sequences = given != null ? 1 : LongForm.IsAsked ? 10_000 : 200;
        var first = given != null ? int.Parse(given) : Random.Shared.Next();
        output.WriteLine($"{sequences} sequences from seed {first}");
        var begun = 0;
        for (var seed = first; seed != first + sequences; seed = unchecked(seed + 1))
        {
            begun += Live(seed);
        }

        output.WriteLine($"{begun} operations were begun");
        Assert.True(begun > sequences, "the sequences hardly begin anything");
    }

    private static int Live(int seed)
    {
        using var world = new ModelWorld(seed);
        try
        {
            var steps = new Random(seed).Next(20, 80);
            for (var step = 0; step < steps; step++)
            {
                world.Step();
            }

            return world.Begun;
        }
        catch (Exception error)
        {
            var story = string.Join("\n", world.Trace.Select((line, number) => $"  {number + 1}. {line}"));
            throw new InvalidOperationException($"JOB_BROKER_MODEL_SEED={seed}\n{error.Message}\n{story}", error);
        }
    }
}
