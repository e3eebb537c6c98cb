#nullable enable
using System;
using System.Text;
using JobBroker.Bridge.Wire;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

/// <summary>Frames that wait together are one write, in their order and within their bound.</summary>
public sealed class OutboundQueueTests
{
    private const int Joined = 64 * 1024;

    private readonly OutboundQueue queue = new(10 * Joined);

    private void Add(string frame, Action? afterwards = null, bool last = false) =>
        Assert.Equal(OutboundQueue.Added.Yes, queue.Add(Encoding.ASCII.GetBytes(frame), afterwards, last));

    private OutboundQueue.Outgoing Take() => queue.Take(0, out _)!;

    private string Taken() => Encoding.ASCII.GetString(Take().Bytes);

    [Fact]
    public void What_waits_is_taken_at_once_in_its_order()
    {
        foreach (var frame in new[] { "answer ", "running ", "finished" }) Add(frame);
        Assert.Equal("answer running finished", Taken());
        Assert.Null(queue.Take(0, out var drained));
        Assert.False(drained);
    }

    [Fact]
    public void A_frame_alone_does_not_wait_for_another()
    {
        Add("one");
        Assert.Equal("one", Taken());
        Add("two");
        Assert.Equal("two", Taken());
    }

    [Fact]
    public void Nothing_is_joined_behind_a_continuation()
    {
        var ran = 0;
        foreach (var frame in new[] { "a", "b" }) Add(frame);
        Add("c", () => ran++);
        Add("d", () => ran += 10);
        Add("e");
        var first = Take();
        Assert.Equal("abc", Encoding.ASCII.GetString(first.Bytes));
        first.Afterwards!();
        Assert.Equal(1, ran);
        Assert.Equal("d", Taken());
        var rest = Take();
        Assert.Equal("e", Encoding.ASCII.GetString(rest.Bytes));
        Assert.Null(rest.Afterwards);
    }

    [Fact]
    public void Large_frames_are_not_copied()
    {
        var large = new byte[Joined];
        Add("small");
        queue.Add(large, null, false);
        Add("small too");
        Assert.Equal("small", Taken());
        Assert.Same(large, Take().Bytes);
        Assert.Equal("small too", Taken());
    }

    [Fact]
    public void The_last_frame_drains_it_and_joined_ones_give_all_their_bytes_back()
    {
        var bounded = new OutboundQueue(10);
        for (var round = 0; round < 3; round++)
        {
            foreach (var part in new byte[][] { new byte[4], new byte[6] })
            {
                Assert.Equal(OutboundQueue.Added.Yes, bounded.Add(part, null, false));
            }
            Assert.Equal(OutboundQueue.Added.Full, bounded.Add(new byte[1], null, false));
            bounded.Written(bounded.Take(0, out _)!);
        }

        Add("one ");
        Add("two", null, true);
        Assert.Equal("one two", Encoding.ASCII.GetString(queue.Take(0, out var early)!.Bytes));
        Assert.False(early);
        Assert.Null(queue.Take(0, out var drained));
        Assert.True(drained);
    }
}
