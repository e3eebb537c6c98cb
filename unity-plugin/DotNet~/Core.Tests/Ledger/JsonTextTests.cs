using System;
using System.IO;
using System.Linq;
using System.Text;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Tests.Framing;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

[Collection(Alone.Name)]
public sealed class JsonTextTests
{
    /// <summary>Around the ends of one, two and three blocks of 64 KiB, with characters of two bytes on them.</summary>
    public static TheoryData<int> Lengths => new() { 0, 1, 32_750, 32_765, 32_766, 32_767, 65_530, 98_301 };

    [Theory]
    [MemberData(nameof(Lengths))]
    public void Is_the_same_wherever_its_blocks_end(int letters)
    {
        var token = new JObject { ["text"] = new string('ä', letters), ["end"] = "€👾" };
        var whole = Encoding.UTF8.GetBytes(token.ToString(Formatting.None));
        var text = JsonText.Of(token);

        Assert.Equal(whole.Length, text.Length);
        Assert.Equal(whole, text.Part(0, int.MaxValue));
        Assert.Equal(whole.Skip(whole.Length - 20), text.Part(whole.Length - 20, 100));
        Assert.Empty(text.Part(whole.Length, 1));
        Assert.True(JToken.DeepEquals(token, text.Token()));
        var file = new MemoryStream();
        Assert.Equal(Crc32.Of(whole, 0, whole.Length), text.WriteTo(file));
        Assert.Equal(whole, file.ToArray());
    }

    [Fact]
    public void A_small_one_takes_little_memory()
    {
        var before = GC.GetTotalMemory(true);
        var texts = Enumerable.Range(0, 1_000).Select(number => JsonText.Of(new JValue(number))).ToList();
        // A block for each would be 64 MB.
        Assert.True(GC.GetTotalMemory(true) - before < 2_000_000);
        Assert.Equal("999", texts[999].ToString());
    }

    [Fact]
    public void Throws_what_its_writer_throws() =>
        Assert.Throws<InvalidOperationException>(() => JsonText.Of(_ => throw new InvalidOperationException()));
}
