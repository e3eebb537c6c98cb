#nullable enable
using System;
using System.Collections.Concurrent;
using System.Linq;
using JobBroker.Bridge.Execution;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Execution;

/// <summary>What the Console says while a call runs: bounded, at most one notification an interval, the last one always.</summary>
public sealed class ConsoleLinesTests : IDisposable
{
    private readonly ManualClock clock = new();
    private readonly ConcurrentQueue<JObject> sent = new();
    private readonly ConcurrentQueue<int> senders = new();
    private readonly ProgressBoard board;
    private readonly ProgressSink call;
    private volatile bool open = true;

    public ConsoleLinesTests()
    {
        var outlet = new LineOutlet(() => open, json =>
        {
            senders.Enqueue(Environment.CurrentManagedThreadId);
            sent.Enqueue(json);
        });
        board = new ProgressBoard(clock, 250, _ => { }, _ => { }, outlet);
        call = board.Open("op");
    }

    public void Dispose() => Assert.True(board.Stop(5000));

    private void Write(string message, ConsoleLineType type = ConsoleLineType.Log) =>
        board.Log("op", new ConsoleLine(type, message, "a stack", 0));

    private JObject Sent(int count)
    {
        Wait.Until(() => sent.Count >= count, "a notification");
        Assert.Equal(count, sent.Count);
        return sent.Last();
    }

    [Fact]
    public void A_line_leaves_at_once_and_on_another_thread_and_the_next_ones_together_after_the_interval()
    {
        Write("one");
        Assert.Equal("""{"operationId":"op","lines":[{"type":"log","message":"one"}]}""", Sent(1).ToString(Newtonsoft.Json.Formatting.None));
        Assert.NotEqual(Environment.CurrentManagedThreadId, senders.Single());

        Write("two", ConsoleLineType.Warning);
        Write("three", ConsoleLineType.Error);
        Assert.True(call.FlushIfDue() > 0);
        Assert.Single(sent);
        clock.NowMs += 250;
        Assert.Null(call.FlushIfDue());
        Assert.Equal(new[] { "warning two", "error three" }, Sent(2)["lines"]!.Select(line => $"{line["type"]} {line["message"]}"));
    }

    [Fact]
    public void The_last_lines_leave_before_the_end_and_none_after_it()
    {
        Write("one");
        Sent(1);
        Write("last");
        call.Close();
        Assert.Equal("last", (string)Sent(2)["lines"]![0]!["message"]!);
        Write("late");
        call.Close();
        Assert.Null(call.FlushIfDue());
        Assert.Equal(2, sent.Count);
    }

    [Fact]
    public void Of_many_lines_the_first_leave_and_the_others_are_counted_and_of_a_long_one_its_beginning()
    {
        open = false;
        Write(new string('x', 1998) + "\U0001F600 end");
        for (var at = 1; at < 60; at++) Write("line " + at);
        open = true;
        call.Close();
        var notification = Sent(1);
        Assert.Equal(50, notification["lines"]!.Count());
        Assert.Equal(10, (int)notification["more"]!);
        Assert.Equal(new string('x', 1998) + "…", (string)notification["lines"]![0]!["message"]!);
    }

    [Fact]
    public void Without_a_worker_that_takes_them_they_are_kept()
    {
        open = false;
        Write("one");
        clock.NowMs += 250;
        Assert.Equal(250, call.FlushIfDue());
        Assert.Empty(sent);
        open = true;
        clock.NowMs += 250;
        Wait.Until(() => sent.Count == 1 || call.FlushIfDue() == null, "a notification");
        Assert.Equal("one", (string)Sent(1)["lines"]![0]!["message"]!);
    }
}
