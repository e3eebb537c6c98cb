#nullable enable
using System;
using System.Linq;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.Parameters
{
    /// <summary>
    /// JSON Schema 2020-12 from a schema class: [Description], property initialisers as defaults, enums as words,
    /// [RequiredParameter], [ParameterRange], lists, maps and nested classes.
    /// </summary>
    public static class ToolParameterSchemaGenerator
    {
        private const string Dialect = "https://json-schema.org/draft/2020-12/schema";

        /// <summary>
        /// The closed object that calls of the tool must match; throws NotSupportedException naming what it cannot
        /// describe.
        /// </summary>
        public static JObject InputSchema(Type schema) => InputSchema(ParameterShape.Of(schema));

        internal static JObject InputSchema(ParameterShape shape)
        {
            if (shape.Kind != ShapeKind.Record)
            {
                throw new NotSupportedException($"{shape.Type.Name} cannot be the schema of a tool: it must be a class.");
            }
            var described = new JObject { ["$schema"] = Dialect };
            described.Merge(Record(shape));
            return described;
        }

        private static JObject Describe(ParameterShape shape, ParameterRangeAttribute? range)
        {
            switch (shape.Kind)
            {
                case ShapeKind.Text:
                    return new JObject { ["type"] = "string" };
                case ShapeKind.Flag:
                    return new JObject { ["type"] = "boolean" };
                case ShapeKind.Integer:
                    return Bounded(new JObject { ["type"] = "integer" }, range);
                case ShapeKind.Number:
                    return Bounded(new JObject { ["type"] = "number" }, range);
                case ShapeKind.Choice:
                    var words = shape.Choices.Select(one => one.Key);
                    return new JObject { ["type"] = "string", ["enum"] = new JArray(words) };
                case ShapeKind.List:
                    return new JObject { ["type"] = "array", ["items"] = Describe(shape.Items!, range) };
                case ShapeKind.Map:
                    var values = Describe(shape.Items!, range);
                    return new JObject { ["type"] = "object", ["additionalProperties"] = values };
                case ShapeKind.Record:
                    return Record(shape);
                default:
                    return new JObject();
            }
        }

        private static JObject Record(ParameterShape shape)
        {
            var defaults = Activator.CreateInstance(shape.Type)!;
            var properties = new JObject();
            foreach (var member in shape.Members) properties[member.Name] = Property(member, defaults);
            var record = new JObject { ["type"] = "object", ["properties"] = properties };
            var required = shape.Members.Where(member => member.Required).Select(member => member.Name).ToList();
            if (required.Count > 0) record["required"] = new JArray(required);
            record["additionalProperties"] = false;
            return record;
        }

        private static JObject Property(ParameterMember member, object defaults)
        {
            var property = Describe(member.Shape, member.Range);
            if (member.Description.Length > 0) property["description"] = member.Description;
            if (member.Required || member.Shape.Kind == ShapeKind.Record) return property;
            var value = member.Property.GetValue(defaults);
            if (value != null) property["default"] = ToolJson.From(value);
            return property;
        }

        private static JObject Bounded(JObject number, ParameterRangeAttribute? range)
        {
            if (range == null) return number;
            if (!double.IsInfinity(range.Minimum)) number["minimum"] = Bound(range.Minimum);
            if (!double.IsInfinity(range.Maximum)) number["maximum"] = Bound(range.Maximum);
            return number;
        }

        private static JValue Bound(double bound) =>
            bound == Math.Floor(bound) && Math.Abs(bound) < 1e15 ? new JValue((long)bound) : new JValue(bound);
    }
}
