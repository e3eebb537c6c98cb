using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Runtime.Serialization;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.Parameters;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public class SchemaTests
{
    public enum Colour
    {
        [EnumMember(Value = "deep-red")]
        Red,
        Blue,
    }

    public class Base
    {
        [Description("First")]
        public string Inherited { get; set; } = "i";
    }

    public sealed class Nested
    {
        [RequiredParameter]
        public string Key { get; set; } = "";

        public int Weight { get; set; } = 3;
    }

    public sealed class Everything : Base
    {
        [RequiredParameter]
        [Description("A name")]
        public string Name { get; set; } = "";

        [ParameterRange(Minimum = 1, Maximum = 2.5)]
        public double Ratio { get; set; } = 1.5;

        [ParameterRange(Minimum = 0)]
        public int? Layer { get; set; }

        public Colour Colour { get; set; } = Colour.Blue;

        public Colour[] Palette { get; set; } = { Colour.Red };

        public List<long> Numbers { get; set; } = new();

        public IReadOnlyList<string>? Words { get; set; }

        public Nested Inner { get; set; } = new();

        public Nested[] Inners { get; set; } = Array.Empty<Nested>();

        public Dictionary<string, bool> Flags { get; set; } = new();

        public object? Anything { get; set; }

        public string ReadOnly => "not a parameter";
    }

    public sealed class Circle
    {
        public Circle? Again { get; set; }
    }

    public sealed class WithDate
    {
        public DateTime When { get; set; }
    }

    public sealed class LowerCase
    {
        public string url { get; set; } = "";
    }

    [Fact]
    public void A_schema_class_becomes_a_closed_object_of_json_schema()
    {
        var expected = JObject.Parse(
            """
            {
              "$schema": "https://json-schema.org/draft/2020-12/schema",
              "type": "object",
              "properties": {
                "Inherited": { "type": "string", "description": "First", "default": "i" },
                "Name": { "type": "string", "description": "A name" },
                "Ratio": { "type": "number", "minimum": 1, "maximum": 2.5, "default": 1.5 },
                "Layer": { "type": "integer", "minimum": 0 },
                "Colour": { "type": "string", "enum": ["deep-red", "Blue"], "default": "Blue" },
                "Palette": { "type": "array", "items": { "type": "string", "enum": ["deep-red", "Blue"] }, "default": ["deep-red"] },
                "Numbers": { "type": "array", "items": { "type": "integer" }, "default": [] },
                "Words": { "type": "array", "items": { "type": "string" } },
                "Inner": {
                  "type": "object",
                  "properties": { "Key": { "type": "string" }, "Weight": { "type": "integer", "default": 3 } },
                  "required": ["Key"],
                  "additionalProperties": false
                },
                "Inners": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": { "Key": { "type": "string" }, "Weight": { "type": "integer", "default": 3 } },
                    "required": ["Key"],
                    "additionalProperties": false
                  },
                  "default": []
                },
                "Flags": { "type": "object", "additionalProperties": { "type": "boolean" }, "default": {} },
                "Anything": {}
              },
              "required": ["Name"],
              "additionalProperties": false
            }
            """);
        Assert.Equal(expected.ToString(), ToolParameterSchemaGenerator.InputSchema(typeof(Everything)).ToString());
    }

    [Fact]
    public void Plain_clients_get_the_words_that_they_know()
    {
        var plain = PlainParameterSchema.Of(ToolParameterSchemaGenerator.InputSchema(typeof(Everything)));
        Assert.Equal(new[] { "Name" }, plain["Required"]!.ToObject<string[]>());
        Assert.Equal(
            """{"Type":"number","Description":"","DefaultValue":null,"Enum":null}""",
            plain["Properties"]!["Layer"]!.ToString(Newtonsoft.Json.Formatting.None));
        Assert.Equal(
            """{"Type":"string","Description":"","DefaultValue":"Blue","Enum":["deep-red","Blue"]}""",
            plain["Properties"]!["Colour"]!.ToString(Newtonsoft.Json.Formatting.None));
        Assert.Equal("object", (string?)plain["Properties"]!["Anything"]!["Type"]);
        Assert.Equal("array", (string?)plain["Properties"]!["Words"]!["Type"]);
    }

    [Theory]
    [InlineData(typeof(Circle), "Circle contains itself.")]
    [InlineData(typeof(WithDate), "DateTime cannot be a parameter")]
    [InlineData(typeof(LowerCase), "LowerCase.url must begin with a capital.")]
    [InlineData(typeof(int), "Int32 cannot be the schema of a tool")]
    public void What_has_no_schema_is_refused_in_a_sentence(Type type, string sentence)
    {
        var error = Assert.Throws<NotSupportedException>(() => ToolParameterSchemaGenerator.InputSchema(type));
        Assert.Contains(sentence, error.Message);
    }
}
