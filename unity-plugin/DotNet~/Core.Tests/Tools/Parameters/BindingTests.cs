using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public class BindingTests
{
    /// <summary>Answers its parameters: what it answers is what was bound.</summary>
    private sealed class EchoTool<T> : AbstractUnityTool<T, T>
        where T : class, new()
    {
        protected override Task<T> ExecuteAsync(T parameters, ToolContext context) => Task.FromResult(parameters);
    }

    public sealed class Nothing
    {
    }

    public sealed class Widths
    {
        public byte Byte { get; set; }

        public int Int { get; set; }

        public ulong Large { get; set; }

        public float Single { get; set; }

        public decimal Exact { get; set; }
    }

    private static async Task<SchemaTests.Everything> Bound(string json)
    {
        var bound = await new ToolCall().Run(new EchoTool<SchemaTests.Everything>(), JObject.Parse(json));
        return ToolJson.Read<SchemaTests.Everything>(bound)!;
    }

    private static Task<ToolException> Refused<T>(string json)
        where T : class, new()
    {
        var arguments = JsonConvert.DeserializeObject<JObject>(json, new JsonSerializerSettings { MaxDepth = 64 })!;
        return ToolCall.Fails(new EchoTool<T>(), arguments);
    }

    [Fact]
    public async Task Arguments_bind_in_both_spellings_and_the_rest_keeps_its_defaults()
    {
        var bound = await Bound(
            """
            {"name":"n","Ratio":2,"layer":4,"colour":"DEEP-RED","Palette":["blue"],"numbers":[1,9007199254740993],
             "words":["a"],"Inner":{"key":"k"},"inners":[{"Key":"x","weight":9}],"Flags":{"on":true},"Anything":{"a":[1]}}
            """);
        Assert.Equal("n", bound.Name);
        Assert.Equal(2, bound.Ratio);
        Assert.Equal(4, bound.Layer);
        Assert.Equal(SchemaTests.Colour.Red, bound.Colour);
        Assert.Equal(new[] { SchemaTests.Colour.Blue }, bound.Palette);
        Assert.Equal(new[] { 1, 9007199254740993 }, bound.Numbers);
        Assert.Equal(new[] { "a" }, bound.Words);
        Assert.Equal("k", bound.Inner.Key);
        Assert.Equal(3, bound.Inner.Weight);
        Assert.Equal(9, bound.Inners.Single().Weight);
        Assert.True(bound.Flags["on"]);
        Assert.Equal("""{"a":[1]}""", ((JToken)bound.Anything!).ToString(Formatting.None));
        Assert.Equal("i", bound.Inherited);
    }

    [Fact]
    public async Task Null_is_like_absent()
    {
        var bound = await Bound("""{"Name":"n","Ratio":null,"Layer":null,"Inner":null,"Words":null}""");
        Assert.Equal(1.5, bound.Ratio);
        Assert.Equal(3, bound.Inner.Weight);
    }

    [Theory]
    [InlineData("""{}""", "Name is missing.")]
    [InlineData("""{"Name":null}""", "Name is missing.")]
    [InlineData("""{"Name":"n","name":"m"}""", "Name is given twice.")]
    [InlineData("""{"Name":"n","NAME":"m"}""", "There is no parameter NAME. Known are Inherited, Name, Ratio, Layer")]
    [InlineData("""{"Name":"n","Bogus":1}""", "There is no parameter Bogus. Known are Inherited, Name")]
    [InlineData("""{"Name":"n","ReadOnly":"x"}""", "There is no parameter ReadOnly.")]
    [InlineData("""{"Name":7}""", "Name must be a string, not 7.")]
    [InlineData("""{"Name":"n","Ratio":"1.5"}""", "Ratio must be a number, not the text \"1.5\".")]
    [InlineData("""{"Name":"n","Ratio":true}""", "Ratio must be a number, not true.")]
    [InlineData("""{"Name":"n","Ratio":NaN}""", "Ratio must be a finite number")]
    [InlineData("""{"Name":"n","Ratio":0.5}""", "Ratio must be from 1 to 2.5, not 0.5.")]
    [InlineData("""{"Name":"n","Layer":-1}""", "Layer must be 0 or more, not -1.")]
    [InlineData("""{"Name":"n","Layer":1.5}""", "Layer must be an integer, not 1.5.")]
    [InlineData("""{"Name":"n","Layer":"1"}""", "Layer must be an integer, not the text \"1\".")]
    [InlineData("""{"Name":"n","Colour":"Green"}""", "Colour must be one of deep-red, Blue, not the text \"Green\".")]
    [InlineData("""{"Name":"n","Colour":1}""", "Colour must be one of deep-red, Blue, not 1.")]
    [InlineData("""{"Name":"n","Numbers":5}""", "Numbers must be an array, not 5.")]
    [InlineData("""{"Name":"n","Numbers":[1,"2"]}""", "Numbers[1] must be an integer, not the text \"2\".")]
    [InlineData("""{"Name":"n","Words":["a",null]}""", "Words[1] must not be null.")]
    [InlineData("""{"Name":"n","Inner":{}}""", "Inner.Key is missing.")]
    [InlineData("""{"Name":"n","Inner":{"Key":"k","Depth":1}}""", "There is no parameter Inner.Depth. Known are Key, Weight.")]
    [InlineData("""{"Name":"n","Inners":[{"Key":"k"},{"Key":1}]}""", "Inners[1].Key must be a string, not 1.")]
    [InlineData("""{"Name":"n","Flags":{"on":1}}""", "Flags.on must be a boolean, not 1.")]
    [InlineData("""{"Name":"n","Flags":[]}""", "Flags must be an object, not an array.")]
    public async Task What_does_not_fit_is_named_in_a_sentence(string json, string sentence)
    {
        var error = await Refused<SchemaTests.Everything>(json);
        Assert.Equal("invalid_arguments", error.Type);
        Assert.StartsWith(sentence, error.Message);
    }

    [Theory]
    [InlineData("""{"Byte":256}""", "Byte must be an integer from 0 to 255, not 256.")]
    [InlineData("""{"Int":2147483648}""", "Int must be an integer from -2147483648 to 2147483647")]
    [InlineData("""{"Large":-1}""", "Large must be an integer from 0 to 18446744073709551615")]
    [InlineData("""{"Large":99999999999999999999999999999999}""", "Large must be an integer")]
    [InlineData("""{"Single":1e39}""", "Single must be a finite number")]
    [InlineData("""{"Exact":1e300}""", "Exact must be a number of at most 28 digits")]
    public async Task Numbers_are_never_cut_to_fit(string json, string sentence) =>
        Assert.StartsWith(sentence, (await Refused<Widths>(json)).Message);

    [Fact]
    public async Task The_largest_and_smallest_numbers_fit()
    {
        var json = """{"Byte":255,"Int":-2147483648,"Large":18446744073709551615,"Single":-3.0e38,"Exact":0.1}""";
        var bound = await new ToolCall().Run(new EchoTool<Widths>(), JObject.Parse(json));
        Assert.Equal("18446744073709551615", bound["Large"]!.ToString());
        Assert.Equal(0.1m, (decimal)bound["Exact"]!);
    }

    [Fact]
    public async Task A_whole_number_may_be_written_with_a_point() =>
        Assert.Equal(3, (await Bound("""{"Name":"n","Layer":3.0}""")).Layer);

    [Fact]
    public async Task A_tool_without_parameters_takes_the_filler_of_plain_clients_and_nothing_else()
    {
        await new ToolCall().Run(new EchoTool<Nothing>(), new { random_string = "dummy" });
        Assert.Equal("There is no parameter Other. There are none.", (await Refused<Nothing>("""{"Other":1}""")).Message);
        Assert.Contains("random_string", (await Refused<SchemaTests.Nested>("""{"Key":"k","random_string":"x"}""")).Message);
    }
}
