#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Framing;

/// <summary>The table that the TypeScript parser follows too.</summary>
public sealed class GoldenFramingTests
{
    private static readonly Dictionary<string, JObject> Cases = Read();

    public static TheoryData<string> Names => new(Cases.Keys);

    [Theory]
    [MemberData(nameof(Names))]
    public void Follows_the_table(string name)
    {
        var entry = Cases[name];
        var maxBytes = entry.Value<int>("maxBytes");
        var chunks = entry["chunks"]!.Select(chunk => Convert.FromBase64String((string)chunk!)).ToList();
        var whole = chunks.SelectMany(chunk => chunk).ToArray();
        var expected = entry["frames"]!.Select(Words).ToList();

        Assert.Equal(expected, Frames.Of(chunks, maxBytes));
        Assert.Equal(expected, Frames.Of([whole], maxBytes));
        Assert.Equal(expected, Frames.Of(Frames.Cut(whole, 1), maxBytes));
    }

    [Fact]
    public void The_table_is_the_whole_table() => Assert.True(Cases.Count >= 25, $"only {Cases.Count} cases");

    private static string Words(JToken frame) => (string)frame["kind"]! switch
    {
        "message" => "message " + (string)frame["text"]!,
        "too_long" => "too_long " + (long)frame["length"]!,
        var kind => kind,
    };

    private static Dictionary<string, JObject> Read()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!Directory.Exists(Path.Combine(folder.FullName, "test", "golden"))) folder = folder.Parent!;
        var text = File.ReadAllText(Path.Combine(folder.FullName, "test", "golden", "framing.json"));
        return JObject.Parse(text)["cases"]!.Cast<JObject>().ToDictionary(entry => (string)entry["name"]!);
    }
}
