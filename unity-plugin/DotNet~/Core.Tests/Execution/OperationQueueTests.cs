#nullable enable
using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Execution;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Tests.Wire;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Execution;

/// <summary>Who waits for the background lane gets every operation of it, and is left alone by the main lane.</summary>
public sealed class OperationQueueTests : IDisposable
{
    private readonly OperationQueue queue = new();
    private readonly ConcurrentQueue<string> taken = new();
    private readonly Thread[] threads;

    public OperationQueueTests()
    {
        threads = Enumerable.Range(0, ToolLanes.BackgroundWidth).Select(_ => new Thread(TakeAll)).ToArray();
        foreach (var thread in threads) thread.Start();
        Await(() => threads.All(IsWaiting));
    }

    public void Dispose()
    {
        queue.Close();
        foreach (var thread in threads) Assert.True(thread.Join(5000));
    }

    private static QueuedOperation Operation(string id, string tool) =>
        new(new LedgerOperation(id), new RegisteredTool(tool, new Nothing(), new McpToolAttribute(), true), false);

    private static bool IsWaiting(Thread thread) => thread.ThreadState.HasFlag(ThreadState.WaitSleepJoin);

    private void TakeAll()
    {
        for (var next = queue.TakeBackground(); next != null; next = queue.TakeBackground())
        {
            taken.Enqueue(next.Operation.OperationId);
        }
    }

    private static void Await(Func<bool> condition) => Assert.True(SpinWait.SpinUntil(condition, 10_000));

    [Fact]
    public void Every_operation_of_the_background_lane_finds_a_thread()
    {
        for (var at = 0; at < 1000; at++)
        {
            queue.Add(Operation("read-" + at, "ping"));
            if (at % 10 == 0) Await(() => taken.Count == at + 1);
        }
        Await(() => taken.Count == 1000);
        Assert.Equal(1000, taken.Distinct().Count());
    }

    [Fact]
    public void An_operation_of_the_main_lane_is_not_theirs()
    {
        var main = Operation("main", "compile");
        queue.Add(main);
        Assert.Same(main, queue.NextMain());
        Assert.True(queue.TakeMain(main));
        Assert.False(queue.TakeMain(main));
        Assert.Null(queue.NextMain());
        Assert.Empty(taken);
    }

    private sealed class Nothing : IUnityTool
    {
        public JObject InputSchema => new() { ["type"] = "object" };

        public Task<object?> ExecuteAsync(JObject arguments, ToolContext context) => Task.FromResult<object?>(null);
    }
}
