using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using FsCheck;
using FsCheck.Fluent;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.Parameters;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>
/// What the schema allows, binding takes; what it takes comes out as it went in; nothing else gets past it.
/// </summary>
public class BindingPropertyTests
{
    public sealed class Sample
    {
        public string Text { get; set; } = "";

        public int Whole { get; set; }

        public long? Optional { get; set; }

        public double Real { get; set; }

        public bool Flag { get; set; }

        public SchemaTests.Colour Choice { get; set; }

        public string[] Words { get; set; } = Array.Empty<string>();

        public List<SchemaTests.Nested> Inners { get; set; } = new();

        public Dictionary<string, int> Map { get; set; } = new();
    }

    private sealed class EchoTool : AbstractUnityTool<Sample, Sample>
    {
        protected override Task<Sample> ExecuteAsync(Sample parameters, ToolContext context) =>
            Task.FromResult(parameters);
    }

    private static readonly string[] Names = typeof(Sample).GetProperties().Select(property => property.Name).ToArray();

    private static readonly Gen<string> Text = ArbMap.Default.GeneratorFor<string>().Select(text => text ?? "");

    private static Gen<JToken> Fitting(string name) => name switch
    {
        "Text" => Text.Select(text => (JToken)text),
        "Whole" => ArbMap.Default.GeneratorFor<int>().Select(number => (JToken)number),
        "Optional" => ArbMap.Default.GeneratorFor<long>().Select(number => (JToken)number),
        "Real" => ArbMap.Default.GeneratorFor<NormalFloat>().Select(number => (JToken)number.Get),
        "Flag" => ArbMap.Default.GeneratorFor<bool>().Select(flag => (JToken)flag),
        "Choice" => Gen.Elements("deep-red", "Blue").Select(word => (JToken)word),
        "Words" => Gen.ListOf(Text).Select(words => (JToken)new JArray(words)),
        "Inners" => Gen.ListOf(Text).Select(keys => (JToken)new JArray(keys.Select(key => new JObject { ["Key"] = key, ["Weight"] = key.Length }))),
        _ => Gen.ListOf(Text).Select(keys => (JToken)JObject.FromObject(keys.Distinct().ToDictionary(key => key, key => key.Length))),
    };

    private static Gen<JToken> Anything(int size) => Gen.OneOf(
        Text.Select(text => (JToken)text),
        ArbMap.Default.GeneratorFor<double>().Select(number => (JToken)number),
        ArbMap.Default.GeneratorFor<long>().Select(number => (JToken)number),
        ArbMap.Default.GeneratorFor<bool>().Select(flag => (JToken)flag),
        Gen.Constant((JToken)JValue.CreateNull()),
        size == 0 ? Gen.Constant((JToken)new JArray()) : Gen.ListOf(Anything(size / 2)).Select(items => (JToken)new JArray(items)),
        size == 0 ? Gen.Constant((JToken)new JObject()) : Gen.ListOf(Anything(size / 2)).Select(items => (JToken)new JObject(
            items.Select((item, index) => new JProperty(index == 0 ? "Key" : "k" + index, item)))));

    /// <summary>Some of the parameters, each spelt either way.</summary>
    private static Gen<JObject> Arguments(Func<string, Gen<JToken>> value) => Names.Aggregate(
        Gen.Constant(new JObject()),
        (all, name) =>
            from so in all
            from there in Gen.Elements(true, true, false)
            from camel in Gen.Elements(true, false)
            from token in value(name)
            select there ? With(so, camel ? char.ToLowerInvariant(name[0]) + name.Substring(1) : name, token) : so);

    private static JObject With(JObject all, string name, JToken value) => new(all) { [name] = value };

    [Fact]
    public void What_the_schema_allows_binds_and_comes_out_as_it_went_in()
    {
        var defaults = (JObject)ToolJson.From(new Sample());
        Prop.ForAll(Arguments(Fitting).ToArbitrary(), arguments =>
        {
            var bound = (JObject)new ToolCall().Run(new EchoTool(), arguments).GetAwaiter().GetResult();
            foreach (var name in Names)
            {
                var given = arguments.GetValue(name, StringComparison.OrdinalIgnoreCase) ?? defaults[name];
                Assert.True(JToken.DeepEquals(given, bound[name]), $"{name}: {given} became {bound[name]}");
            }
        }).Check(FsCheck.Config.QuickThrowOnFailure.WithMaxTest(300));
    }

    [Fact]
    public void Whatever_comes_is_bound_or_refused_in_a_sentence()
    {
        var tried = 0;
        var refused = 0;
        Prop.ForAll(Arguments(_ => Anything(8)).ToArbitrary(), arguments =>
        {
            tried++;
            try
            {
                var bound = new ToolCall().Run(new EchoTool(), arguments).GetAwaiter().GetResult();
                Assert.IsType<JObject>(bound);
            }
            catch (ToolException error)
            {
                refused++;
                Assert.Equal("invalid_arguments", error.Type);
                Assert.EndsWith(".", error.Message);
                Assert.Contains(Names, name => error.Message.Contains(name));
            }
        }).Check(FsCheck.Config.QuickThrowOnFailure.WithMaxTest(1000));
        Assert.InRange(refused, tried / 2, tried);
    }
}
