#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using FsCheck;
using FsCheck.Fluent;
using JobBroker.Bridge.Framing;
using Xunit;

namespace JobBroker.Bridge.Tests.Framing;

/// <summary>
/// Whatever comes, the parser neither throws nor hangs nor grows, and how the bytes are cut changes nothing.
/// </summary>
[Collection(Alone.Name)]
public sealed class FrameMutationTests
{
    private const int MaxBytes = 200;
    private const int Mutations = 100_000;

    [Fact]
    public void A_hundred_thousand_mutated_streams()
    {
        var random = new Random(20240611);
        var good = Frames.Stream("{\"a\":1}", "", "{\"b\":\"é日🎮\"}", new string('x', 250), "{\"c\":[]}");
        var seen = new Dictionary<string, int>();
        var memory = 0L;
        for (var round = 0; round < Mutations; round++)
        {
            if (round == 1000) memory = GC.GetTotalMemory(true);
            var stream = Mutated(good, random);
            var one = new FrameParser(MaxBytes);
            var frames = Frames.Of([stream], one);
            var cut = new FrameParser(MaxBytes);
            Assert.Equal(frames, Frames.Of(Frames.Cut(stream, random.Next(1, 40)), cut));
            Assert.InRange(one.Capacity, 0, 8 * 1024);
            Assert.InRange(cut.Capacity, 0, 8 * 1024);
            foreach (var frame in frames)
            {
                var kind = frame.Split(' ')[0];
                seen[kind] = seen.GetValueOrDefault(kind) + 1;
                if (kind == "message") Assert.InRange(frame.Length, 8, 8 + MaxBytes);
            }
        }
        // A mutation that never reaches a branch would prove nothing about it.
        foreach (var kind in new[] { "message", "too_long", "malformed" }) Assert.True(seen[kind] > 5000, kind);
        Assert.InRange(GC.GetTotalMemory(true) - memory, long.MinValue, 1024 * 1024);
    }

    [Fact]
    public void One_parser_over_an_endless_stream_does_not_grow()
    {
        var random = new Random(7);
        var parser = new FrameParser(MaxBytes);
        var frames = 0;
        for (var round = 0; round < Mutations; round++)
        {
            var text = new string('x', random.Next(0, 2 * MaxBytes));
            foreach (var chunk in Frames.Cut(FrameParser.Encode(text), random.Next(1, 300)))
            {
                parser.Push(chunk, 0, chunk.Length);
                while (parser.TryNext(out _)) frames++;
            }
            Assert.InRange(parser.Capacity, 0, 8 * 1024);
        }
        Assert.Equal(Mutations, frames);
    }

    [Fact]
    public void Any_texts_survive_the_way_through_any_chunks() =>
        Prop.ForAll<NonNull<string>[], PositiveInt>((texts, size) =>
        {
            // A half of a surrogate pair is no character and has no bytes.
            var whole = texts.Select(text => text.Get).Where(text => !text.Any(char.IsSurrogate)).ToArray();
            var frames = Frames.Of(Frames.Cut(Frames.Stream(whole), size.Get), 1024 * 1024);
            return frames.SequenceEqual(whole.Select(text => "message " + text));
        }).QuickCheckThrowOnFailure();

    private static byte[] Mutated(byte[] good, Random random)
    {
        var bytes = good.ToList();
        for (var left = random.Next(1, 5); left > 0; left--)
        {
            var at = random.Next(bytes.Count);
            switch (random.Next(5))
            {
                case 0:
                    bytes[at] = (byte)random.Next(256);
                    break;
                case 1:
                    bytes[at] = (byte)"0123456789:\r\n CHO"[random.Next(17)];
                    break;
                case 2:
                    bytes.RemoveRange(at, Math.Min(random.Next(1, 8), bytes.Count - at));
                    break;
                case 3:
                    bytes.Insert(at, (byte)random.Next(256));
                    break;
                default:
                    var from = random.Next(good.Length);
                    bytes.InsertRange(at, good[from..Math.Min(good.Length, from + random.Next(1, 60))]);
                    break;
            }
            if (bytes.Count == 0) return [];
        }
        return bytes.ToArray();
    }
}
