#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using JobBroker.Bridge.Framing;
using Xunit;

namespace JobBroker.Bridge.Tests.Framing;

public sealed class FrameParserTests
{
    private static readonly string[] Texts = ["{\"id\":1}", "", "{\"text\":\"häßlich 日本 🎮\"}", new('x', 110), "{}"];
    private static readonly List<string> Expected = Texts.Select(text => "message " + text).ToList();

    [Fact]
    public void A_stream_of_several_frames_is_read_the_same_at_every_pair_of_split_points()
    {
        var stream = Frames.Stream(Texts);
        for (var first = 0; first <= stream.Length; first++)
        {
            for (var second = first; second <= stream.Length; second++)
            {
                Assert.Equal(Expected, Frames.Of([stream[..first], stream[first..second], stream[second..]], 1024));
            }
        }
    }

    [Fact]
    public void A_stream_is_read_the_same_in_chunks_of_every_size()
    {
        var stream = Frames.Stream(Texts);
        for (var size = 1; size <= stream.Length; size++)
        {
            Assert.Equal(Expected, Frames.Of(Frames.Cut(stream, size), 1024));
        }
    }

    [Fact]
    public void A_frame_is_not_there_before_its_last_byte()
    {
        var parser = new FrameParser();
        var one = FrameParser.Encode("{\"é\":1}");
        for (var at = 0; at < one.Length; at++)
        {
            Assert.False(parser.TryNext(out _));
            parser.Push(one, at, 1);
        }
        Assert.True(parser.TryNext(out var frame));
        Assert.Equal("{\"é\":1}", frame.Text);
        Assert.False(parser.TryNext(out _));
    }

    [Theory]
    [InlineData("Content-Length: 2\r\n\r\n", true)]
    [InlineData("content-length:2\r\n\r\n", true)]
    [InlineData("CONTENT-LENGTH: \t 2 \t\r\n\r\n", true)]
    [InlineData("X-Uloop: a:b:c\r\nContent-Length: 0002\r\n\r\n", true)]
    [InlineData("X-Empty:\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n", true)]
    [InlineData("Content-Length: 2\n\n", false)]
    [InlineData("Content-Length: 2\nX: 1\r\n\r\n", false)]
    [InlineData("Content-Length: 2\rX\r\n\r\n", false)]
    [InlineData("Content-Length: \r\n\r\n", false)]
    [InlineData("Content-Length: 2,2\r\n\r\n", false)]
    [InlineData("Content-Length: 2.0\r\n\r\n", false)]
    [InlineData("Content-Length: 1e1\r\n\r\n", false)]
    [InlineData("Content-Length: \u00b2\r\n\r\n", false)]
    [InlineData("Content-Length: 9999999999999999\r\n\r\n", false)]
    [InlineData("Content-Length: 2\r\nContent-Length: 3\r\n\r\n", false)]
    [InlineData("Content Length: 2\r\n\r\n", false)]
    [InlineData(": 2\r\n\r\n", false)]
    [InlineData(" Content-Length: 2\r\n\r\n", false)]
    [InlineData("X: 1\r\nHOST : x\r\nContent-Length: 2\r\n\r\n", false)]
    [InlineData("Content-Length: 2\r\nHoSt: x\r\n\r\n", false)]
    [InlineData("Content-Length: 2\r\norigin:\r\n\r\n", false)]
    [InlineData("\r\nContent-Length: 2\r\n\r\n", false)]
    [InlineData("X: 1\r\n\r\n", false)]
    [InlineData("OPTIONS / HTTP/1.1\r\n", false)]
    public void Headers(string header, bool good)
    {
        var bytes = Frames.Ascii(header + "{}");
        string[] expected = good ? ["message {}"] : ["malformed"];
        if (!header.Contains("\r\n") && !good) expected = [];
        Assert.Equal(expected, Frames.Of([bytes], 1024));
        Assert.Equal(expected, Frames.Of(Frames.Cut(bytes, 1), 1024));
    }

    [Theory]
    [InlineData(4096, true)]
    [InlineData(4097, false)]
    public void A_header_may_have_4096_bytes_however_it_arrives(int length, bool good)
    {
        const string last = "\r\nContent-Length: 2";
        var bytes = Frames.Ascii("X: " + new string('x', length - 3 - last.Length) + last + "\r\n\r\n{}");
        string[] expected = good ? ["message {}"] : ["malformed"];
        for (var size = 1; size <= bytes.Length; size += size < 8 ? 1 : 97)
        {
            Assert.Equal(expected, Frames.Of(Frames.Cut(bytes, size), 1024));
        }
    }

    [Fact]
    public void An_over_long_frame_of_a_terabyte_is_passed_over_without_keeping_it()
    {
        const long length = 1L << 40;
        var parser = new FrameParser();
        var header = Frames.Ascii($"Content-Length: {length}\r\n\r\n");
        parser.Push(header, 0, header.Length);
        Assert.True(parser.TryNext(out var frame));
        Assert.Equal(FrameKind.TooLong, frame.Kind);
        Assert.Equal(length, frame.Length);
        var chunk = new byte[1 << 24];
        for (var sent = 0L; sent < length; sent += chunk.Length)
        {
            parser.Push(chunk, 0, chunk.Length);
            Assert.False(parser.TryNext(out _));
        }
        Assert.InRange(parser.Capacity, 0, 4096);
        Assert.Equal(["message {}"], Frames.Of([FrameParser.Encode("{}")], parser));
    }

    [Fact]
    public void The_buffer_grows_with_a_frame_is_used_again_and_let_go_when_it_was_a_large_one()
    {
        var parser = new FrameParser();
        var small = FrameParser.Encode(new string('x', 20_000));
        Assert.Single(Frames.Of(Frames.Cut(small, 1000), parser));
        var grown = parser.Capacity;
        Assert.InRange(grown, small.Length, 4 * small.Length);
        for (var round = 0; round < 1000; round++) Assert.Single(Frames.Of(Frames.Cut(small, 1000), parser));
        Assert.Equal(grown, parser.Capacity);

        var large = FrameParser.Encode(new string('x', FrameParser.DefaultMaxBytes));
        var most = 0;
        foreach (var chunk in Frames.Cut(large, 32 * 1024))
        {
            parser.Push(chunk, 0, chunk.Length);
            most = Math.Max(most, parser.Capacity);
            if (parser.TryNext(out var frame)) Assert.Equal(FrameParser.DefaultMaxBytes, frame.Text.Length);
        }
        Assert.InRange(most, FrameParser.DefaultMaxBytes, 3 * FrameParser.DefaultMaxBytes);
        Assert.Equal(0, parser.Capacity);
    }

    [Fact]
    public void Bytes_that_are_no_UTF8_become_a_text_that_is_no_JSON()
    {
        byte[] bytes = [.. Frames.Ascii("Content-Length: 4\r\n\r\n"), (byte)'"', 0xC3, 0x28, (byte)'"'];
        Assert.Equal(["message \"\uFFFD(\""], Frames.Of([bytes], 1024));
    }

    [Fact]
    public void The_length_counts_bytes() =>
        Assert.Equal("Content-Length: 6\r\n\r\n\"日\"\n", Encoding.UTF8.GetString(FrameParser.Encode("\"日\"\n")));
}
