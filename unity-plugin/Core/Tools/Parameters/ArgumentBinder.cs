#nullable enable
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.Parameters
{
    /// <summary>
    /// Fills a schema class from the arguments of a call. Names in PascalCase or camelCase, null like absent, no value
    /// is turned into another type; whatever does not fit is a ToolException of type invalid_arguments that names it.
    /// </summary>
    internal static class ArgumentBinder
    {
        /// <summary>
        /// What uLoop's client sends to a tool without parameters, because some models cannot send nothing.
        /// </summary>
        private const string Filler = "random_string";

        public static object Bind(ParameterShape record, JObject arguments) => Record(record, arguments, "");

        private static object Record(ParameterShape shape, JObject arguments, string path)
        {
            RefuseUnknown(shape, arguments, path);
            var instance = Activator.CreateInstance(shape.Type)!;
            foreach (var member in shape.Members)
            {
                var name = path + member.Name;
                var value = Given(arguments, member, name);
                if (value != null) member.Property.SetValue(instance, Value(member.Shape, value, name, member.Range));
                else if (member.Required) throw Invalid($"{name} is missing.");
            }
            return instance;
        }

        private static JToken? Given(JObject arguments, ParameterMember member, string name)
        {
            var pascal = arguments.Property(member.Name, StringComparison.Ordinal);
            var camel = arguments.Property(member.CamelName, StringComparison.Ordinal);
            if (pascal != null && camel != null && pascal != camel) throw Invalid($"{name} is given twice.");
            var value = (pascal ?? camel)?.Value;
            return value == null || value.Type == JTokenType.Null ? null : value;
        }

        private static void RefuseUnknown(ParameterShape shape, JObject arguments, string path)
        {
            foreach (var argument in arguments.Properties())
            {
                var name = argument.Name;
                if (shape.Members.Any(member => name == member.Name || name == member.CamelName)) continue;
                if (path == "" && shape.Members.Count == 0 && name == Filler) continue;
                var known = shape.Members.Count == 0
                    ? "There are none."
                    : $"Known are {string.Join(", ", shape.Members.Select(member => member.Name))}.";
                throw Invalid($"There is no parameter {path}{name}. {known}");
            }
        }

        private static object Value(ParameterShape shape, JToken token, string name, ParameterRangeAttribute? range)
        {
            switch (shape.Kind)
            {
                case ShapeKind.Text:
                    return token.Type == JTokenType.String ? (string)token! : throw Wrong(name, "a string", token);
                case ShapeKind.Flag:
                    return token.Type == JTokenType.Boolean ? (bool)token : throw Wrong(name, "a boolean", token);
                case ShapeKind.Integer:
                    return Numeric.Integer(shape.Type, token, name, range);
                case ShapeKind.Number:
                    return Numeric.Number(shape.Type, token, name, range);
                case ShapeKind.Choice:
                    return Choice(shape, token, name);
                case ShapeKind.List:
                    return token is JArray list ? List(shape, list, name, range) : throw Wrong(name, "an array", token);
                case ShapeKind.Map:
                    return token is JObject map ? Map(shape, map, name, range) : throw Wrong(name, "an object", token);
                case ShapeKind.Record:
                    if (!(token is JObject record)) throw Wrong(name, "an object", token);
                    return Record(shape, record, name + ".");
                default:
                    return token.DeepClone();
            }
        }

        private static object Choice(ParameterShape shape, JToken token, string name)
        {
            if (token.Type == JTokenType.String)
            {
                foreach (var choice in shape.Choices)
                {
                    const StringComparison anyCase = StringComparison.OrdinalIgnoreCase;
                    if (string.Equals(choice.Key, (string?)token, anyCase)) return choice.Value;
                }
            }
            var words = string.Join(", ", shape.Choices.Select(one => one.Key));
            throw Wrong(name, $"one of {words}", token);
        }

        private static object List(ParameterShape shape, JArray items, string name, ParameterRangeAttribute? range)
        {
            var values = new List<object?>();
            for (var index = 0; index < items.Count; index++)
            {
                var position = index.ToString(CultureInfo.InvariantCulture);
                values.Add(Item(shape.Items!, items[index], $"{name}[{position}]", range));
            }
            if (!shape.Type.IsArray)
            {
                var list = (IList)Activator.CreateInstance(shape.Type)!;
                foreach (var value in values) list.Add(value);
                return list;
            }
            var array = Array.CreateInstance(shape.Items!.Type, values.Count);
            for (var index = 0; index < values.Count; index++) array.SetValue(values[index], index);
            return array;
        }

        private static object Map(ParameterShape shape, JObject entries, string name, ParameterRangeAttribute? range)
        {
            var map = (IDictionary)Activator.CreateInstance(shape.Type)!;
            foreach (var entry in entries.Properties())
            {
                map[entry.Name] = Item(shape.Items!, entry.Value, $"{name}.{entry.Name}", range);
            }
            return map;
        }

        private static object Item(ParameterShape shape, JToken token, string name, ParameterRangeAttribute? range)
        {
            var isNull = token.Type == JTokenType.Null && shape.Kind != ShapeKind.Anything;
            if (isNull) throw Invalid($"{name} must not be null.");
            return Value(shape, token, name, range);
        }

        internal static ToolException Wrong(string name, string wanted, JToken token) =>
            Invalid($"{name} must be {wanted}, not {KindOf(token)}.");

        internal static ToolException Invalid(string sentence) =>
            new ToolException(ToolException.InvalidArguments, sentence);

        private static string KindOf(JToken token)
        {
            switch (token.Type)
            {
                case JTokenType.Object:
                    return "an object";
                case JTokenType.Array:
                    return "an array";
                case JTokenType.Integer:
                case JTokenType.Float:
                    var number = Convert.ToString(((JValue)token).Value, CultureInfo.InvariantCulture);
                    return Shortened(number ?? "a number");
                case JTokenType.Boolean:
                    return (bool)token ? "true" : "false";
                case JTokenType.Null:
                    return "null";
                default:
                    return $"the text \"{Shortened(token.ToString())}\"";
            }
        }

        private static string Shortened(string text) => text.Length <= 60 ? text : text.Substring(0, 60) + "...";
    }
}
