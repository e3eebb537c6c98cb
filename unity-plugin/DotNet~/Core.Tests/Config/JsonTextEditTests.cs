#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Config;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Config;

/// <summary>The table that the command line's edits follow too, byte for byte.</summary>
public sealed class JsonTextEditTests
{
    private static readonly Dictionary<string, JToken> Cases =
        JObject.Parse(File.ReadAllText(Path.Combine(Repository.Root, "test", "golden", "client-config.json")))["cases"]!
            .ToDictionary(one => (string)one["name"]!);

    public static TheoryData<string> Names => new(Cases.Keys);

    [Theory]
    [MemberData(nameof(Names))]
    public void Edits_as_the_command_line_does(string name)
    {
        var one = Cases[name];
        var before = (string)one["before"]!;
        var path = one["path"]!.Select(key => (string)key!).ToList();

        var after = (string)one["op"]! == "set"
            ? JsonTextEdit.Set(before, path, one["value"]!)
            : JsonTextEdit.Remove(before, path);

        Assert.Equal((string)one["after"]!, after);
    }

    [Fact]
    public void The_table_is_the_whole_table() => Assert.True(Cases.Count >= 20, $"only {Cases.Count} cases");

    [Fact]
    public void Removing_undoes_setting_wherever_another_server_was()
    {
        foreach (var one in Cases.Values.Where(one => ((string)one["before"]!).Contains("files\"") && (string)one["op"]! == "set"))
        {
            var before = (string)one["before"]!;
            var path = one["path"]!.Select(key => (string)key!).ToList();
            Assert.Equal(before, JsonTextEdit.Remove(JsonTextEdit.Set(before, path, one["value"]!), path));
        }
    }

    [Theory]
    [InlineData("[]", "line 1: expected an object")]
    [InlineData("{\n  \"a\": 1,\n  \"b\"\n}", "line 4: expected a colon")]
    [InlineData("{ \"a\": 1 \"b\": 2 }", "expected a comma")]
    [InlineData("{ \"a\": \"", "not closed")]
    [InlineData("{ /* ", "comment is not closed")]
    [InlineData("{ \"a\": nope }", "unexpected n")]
    [InlineData("{ \"mcpServers\": { \"unity\": 1, \"unity\": 2 } }", "unity is there twice")]
    [InlineData("{ \"mcpServers\": [] }", "mcpServers is not an object")]
    public void Refuses_what_it_does_not_understand_and_says_where(string text, string reason)
    {
        var error = Assert.Throws<FormatException>(() => JsonTextEdit.Set(text, ["mcpServers", "unity"], new JObject()));
        Assert.Contains(reason, error.Message);
    }

    [Fact]
    public void Does_not_overflow_the_stack_of_the_Editor()
    {
        var deep = string.Concat(Enumerable.Repeat("{\"a\":", 100_000));
        var error = Assert.Throws<FormatException>(() => JsonTextEdit.Root(deep));
        Assert.Contains("nested too deeply", error.Message);
    }
}
