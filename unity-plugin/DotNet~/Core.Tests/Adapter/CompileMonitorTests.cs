#nullable enable
using System.Threading.Tasks;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

public sealed class CompileMonitorTests
{
    private static readonly CompilerMessage Error = new(true, "CS0103", "A.cs", 1, 2);
    private static readonly CompilerMessage Warning = new(false, "CS0168", "A.cs", 3, 4);

    private readonly FixedClock clock = new();
    private readonly CompileMonitor monitor;

    public CompileMonitorTests()
    {
        monitor = new CompileMonitor(clock);
    }

    [Fact]
    public async Task Ends_in_the_call_that_ends_the_compilation()
    {
        var outcome = monitor.Begin();
        monitor.Started();
        monitor.AssemblyFinished([Warning]);
        Assert.False(outcome.IsCompleted);
        monitor.Finished();

        Assert.True(outcome.IsCompletedSuccessfully);
        Assert.True(outcome.IsCompleted);
        var ended = await outcome;
        Assert.True(ended.Compiled);
        Assert.True(ended.ReloadFollows);
        Assert.Equal("CS0168", Assert.Single(ended.Messages).Message);
    }

    [Fact]
    public async Task After_errors_no_reload_follows()
    {
        var outcome = monitor.Begin();
        monitor.Started();
        monitor.AssemblyFinished([Warning, Error]);
        monitor.Finished();
        Assert.True(outcome.IsCompleted);
        var ended = await outcome;
        Assert.False(ended.ReloadFollows);
        Assert.Equal(2, ended.Messages.Count);
    }

    [Fact]
    public async Task Gives_up_on_a_compilation_that_never_begins()
    {
        var outcome = monitor.Begin();
        clock.ElapsedMs += 4_999;
        for (var tick = 0; tick < 10; tick++) monitor.Tick(false);
        Assert.False(outcome.IsCompleted);
        clock.ElapsedMs += 1;
        monitor.Tick(false);
        Assert.True(outcome.IsCompleted);
        var ended = await outcome;
        Assert.False(ended.Compiled);
        Assert.False(monitor.IsWaiting);
    }

    [Fact]
    public void Does_not_give_up_while_the_Editor_is_busy_or_hardly_ticks()
    {
        var outcome = monitor.Begin();
        clock.ElapsedMs += 60_000;
        monitor.Tick(true);
        for (var tick = 1; tick <= 3; tick++)
        {
            Assert.False(outcome.IsCompleted);
            clock.ElapsedMs += 60_000;
            monitor.Tick(false);
        }
        Assert.True(outcome.IsCompleted);
    }

    [Fact]
    public async Task Nothing_that_an_earlier_compilation_said_counts()
    {
        monitor.AssemblyFinished([Error]);
        var outcome = monitor.Begin();
        monitor.AssemblyFinished([Error]);
        monitor.Started();
        monitor.AssemblyFinished([]);
        monitor.Finished();
        Assert.True(outcome.IsCompleted);
        var ended = await outcome;
        Assert.Empty(ended.Messages);
        Assert.True(ended.Compiled);
    }

    [Fact]
    public async Task A_compilation_without_assemblies_compiled_nothing()
    {
        var outcome = monitor.Begin();
        monitor.Started();
        monitor.Finished();
        Assert.True(outcome.IsCompleted);
        var ended = await outcome;
        Assert.False(ended.Compiled);
        Assert.False(ended.ReloadFollows);
    }

    [Fact]
    public void Events_without_a_wait_do_nothing()
    {
        monitor.Started();
        monitor.AssemblyFinished([Error]);
        monitor.Finished();
        monitor.Tick(false);
        Assert.False(monitor.IsWaiting);
        Assert.Same(monitor.Begin(), monitor.Begin());
    }
}
