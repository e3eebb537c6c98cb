#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using JobBroker.Bridge.Framing;
using Xunit;

namespace JobBroker.Bridge.Tests.Framing;

/// <summary>What a parser makes of chunks, in words that can be compared.</summary>
internal static class Frames
{
    public static List<string> Of(IEnumerable<byte[]> chunks, int maxBytes) => Of(chunks, new FrameParser(maxBytes));

    /// <summary>Ends at a malformed frame, whose reason must say something and is not compared.</summary>
    public static List<string> Of(IEnumerable<byte[]> chunks, FrameParser parser)
    {
        var frames = new List<string>();
        foreach (var chunk in chunks)
        {
            parser.Push(chunk, 0, chunk.Length);
            while (parser.TryNext(out var frame))
            {
                if (frame.Kind == FrameKind.Malformed)
                {
                    Assert.Matches("[a-z]", frame.Text);
                    parser.Push(FrameParser.Encode("{}"), 0, 21);
                    Assert.True(parser.TryNext(out var again));
                    Assert.Equal(frame, again);
                    frames.Add("malformed");
                    return frames;
                }
                frames.Add(frame.Kind == FrameKind.Message ? "message " + frame.Text : "too_long " + frame.Length);
            }
        }
        return frames;
    }

    public static IEnumerable<byte[]> Cut(byte[] bytes, int size)
    {
        for (var at = 0; at < bytes.Length; at += size) yield return bytes[at..Math.Min(at + size, bytes.Length)];
    }

    public static byte[] Stream(params string[] texts) => texts.SelectMany(FrameParser.Encode).ToArray();

    public static byte[] Ascii(string text) => Encoding.Latin1.GetBytes(text);
}
