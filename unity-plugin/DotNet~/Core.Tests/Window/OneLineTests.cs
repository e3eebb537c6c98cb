#nullable enable
using System.Linq;
using JobBroker.Bridge.Window;
using Xunit;

namespace JobBroker.Bridge.Tests.Window;

public sealed class OneLineTests
{
    [Theory]
    [InlineData("claude-code", "claude-code")]
    [InlineData("  Zoë 😀 ", "Zoë 😀")]
    [InlineData("a\u001b[2J\nb\u0000", "a\\u001b[2J\\u000ab\\u0000")]
    [InlineData("a\u202eb\u200bc\u2028d", "a\\u202eb\\u200bc\\u2028d")]
    [InlineData("<b>bold</b>", "<b>bold</b>")]
    public void Shows_what_is_there_on_one_line(string text, string shown)
    {
        Assert.Equal(shown, OneLine.Of(text, 64));
    }

    [Fact]
    public void Shows_codes_of_format_characters_beyond_16_bits_and_of_half_characters()
    {
        Assert.Equal("\\udb40\\udc41", OneLine.Of(char.ConvertFromUtf32(0xE0041), 64));
        Assert.Equal("a\\ud83d", OneLine.Of(new string(['a', '\ud83d']), 64));
    }

    [Fact]
    public void Is_never_longer_than_its_limit_and_never_ends_in_half_a_character()
    {
        var texts = new[] { "x", "😀", "x😀", "\u0000", "\ud83d" }
            .Select(one => string.Concat(Enumerable.Repeat(one, 5_000)));
        foreach (var text in texts)
        {
            var line = OneLine.Of(text, 64);
            Assert.InRange(line.Length, 32, 64);
            Assert.EndsWith("…", line);
            Assert.False(char.IsHighSurrogate(line[^2]));
        }
        Assert.Equal(new string('x', 64), OneLine.Of(new string('x', 64), 64));
    }
}
