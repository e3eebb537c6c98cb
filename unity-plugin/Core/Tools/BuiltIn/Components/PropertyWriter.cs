#nullable enable
using System;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Sets serialized properties from JSON. What does not fit is a ToolException that says what would.</summary>
    internal sealed class PropertyWriter
    {
        /// <summary>The names of a vector's numbers where they are given as an object.</summary>
        private static readonly string[] Axes = { "x", "y", "z", "w" };

        private static readonly string[] Channels = { "r", "g", "b", "a" };

        /// <summary>Of a list that is made longer by its size alone: Unity makes as many at once, or ends.</summary>
        private const int MostElements = 100_000;

        private const string ListSize = ".Array.size";

        private readonly IPropertyEditing properties;
        private readonly ISceneQuery scene;

        public PropertyWriter(IPropertyEditing properties, ISceneQuery scene)
        {
            this.properties = properties;
            this.scene = scene;
        }

        public void Write(string component, string path, JToken value) =>
            Write(PropertyPath.Find(properties, component, path), value);

        private void Write(SerializedValue one, JToken value)
        {
            switch (one.Kind)
            {
                case PropertyKind.Group:
                    if (!(value is JObject group)) throw Wrong(one, "an object with its properties", value);
                    foreach (var entry in group.Properties()) WriteBelow(one, entry.Name, entry.Value);
                    return;
                case PropertyKind.List:
                    if (!(value is JArray list)) throw Wrong(one, "an array", value);
                    properties.Resize(one.Path, list.Count);
                    for (var index = 0; index < list.Count; index++)
                    {
                        WriteBelow(one, $"Array.data[{index.ToString(CultureInfo.InvariantCulture)}]", list[index]);
                    }
                    return;
                case PropertyKind.Other:
                    throw new ToolException("property_not_writable", $"{one.Path} is a {one.Type}, which only the Editor's window edits.");
                default:
                    properties.Set(one.Path, ValueFor(one, value));
                    return;
            }
        }

        private void WriteBelow(SerializedValue one, string name, JToken value)
        {
            var found = properties.Find($"{one.Path}.{name}");
            if (found == null) Write(one.Type, $"{one.Path}.{name}", value);
            else Write(found, value);
        }

        private object? ValueFor(SerializedValue one, JToken value)
        {
            switch (one.Kind)
            {
                case PropertyKind.Integer:
                    return value.Type == JTokenType.Integer ? Integer(one, value) : throw Wrong(one, "an integer", value);
                case PropertyKind.Number:
                    return IsNumber(value) ? Finite(one, value) : throw Wrong(one, "a number", value);
                case PropertyKind.Flag:
                    return value.Type == JTokenType.Boolean ? (bool)value : throw Wrong(one, "true or false", value);
                case PropertyKind.Text:
                    return value.Type == JTokenType.String ? (string)value! : throw Wrong(one, "a string", value);
                case PropertyKind.Choice:
                    return Choice(one, value);
                case PropertyKind.Vector:
                    return Numbers(one, value, Axes, one.Size);
                case PropertyKind.Color:
                    return value.Type == JTokenType.String ? Html(one, (string)value!) : Numbers(one, value, Channels, 4);
                default:
                    return Reference(one, value);
            }
        }

        private static long Integer(SerializedValue one, JToken value)
        {
            long given;
            try
            {
                given = (long)value;
            }
            catch (OverflowException)
            {
                throw Wrong(one, "an integer of 64 bits", value);
            }
            var isSize = one.Path.EndsWith(ListSize, StringComparison.Ordinal);
            if (isSize && (given < 0 || given > MostElements)) throw Wrong(one, $"from 0 to {MostElements}", value);
            return given;
        }

        /// <summary>What is too large becomes infinite in Unity, and physics and transforms with it.</summary>
        private static double Finite(SerializedValue one, JToken value)
        {
            var number = (double)value;
            var fits = one.Type == "double" ? !double.IsInfinity(number) : Math.Abs(number) <= float.MaxValue;
            return fits ? number : throw Wrong(one, "a number that fits", value);
        }

        private static object Choice(SerializedValue one, JToken value)
        {
            if (value.Type == JTokenType.Integer) return Integer(one, value);
            var given = value.Type == JTokenType.String ? (string)value! : throw Wrong(one, "a word", value);
            var same = one.Words.FirstOrDefault(word => Plain(word) == Plain(given));
            return same ?? throw new ToolException(
                ToolException.InvalidArguments, $"{one.Path} must be one of {string.Join(", ", one.Words)}, not {given}.");
        }

        /// <summary>The same word in any case and with or without spaces, as Unity's windows show it.</summary>
        private static string Plain(string word) => word.Replace(" ", "").ToLowerInvariant();

        /// <summary>From an array, or from an object with the named ones; a color's alpha may be left out.</summary>
        private static double[] Numbers(SerializedValue one, JToken value, string[] names, int size)
        {
            var leastSize = names == Channels ? 3 : size;
            var given = value is JObject named && named.Properties().All(entry => names.Contains(entry.Name))
                ? names.Take(size).Select(name => named[name]).TakeWhile(number => number != null).Select(number => number!).ToList()
                : (value as JArray)?.ToList();
            if (given == null || given.Count < leastSize || given.Count > size || !given.All(IsNumber))
            {
                throw Wrong(one, $"{size} numbers", value);
            }
            var numbers = given.Select(number => Finite(one, number)).ToList();
            while (numbers.Count < size) numbers.Add(1);
            return numbers.ToArray();
        }

        private static double[] Html(SerializedValue one, string text)
        {
            var digits = text.TrimStart('#');
            var isColor = (digits.Length == 6 || digits.Length == 8)
                && uint.TryParse(digits, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out _);
            if (!isColor) throw Wrong(one, "a color, as [1, 0.5, 0, 1] or \"#FF8000\"", text);
            var full = digits.Length == 6 ? digits + "FF" : digits;
            return Enumerable.Range(0, 4).Select(at => Convert.ToInt32(full.Substring(at * 2, 2), 16) / 255.0).ToArray();
        }

        private ObjectReference? Reference(SerializedValue one, JToken value)
        {
            if (value.Type == JTokenType.Null) return null;
            var text = value.Type == JTokenType.String ? (string)value! : TextOf(value as JObject);
            if (string.IsNullOrEmpty(text)) throw Wrong(one, "an object's id or path, an asset's path, or null", value);
            var isAsset = text!.StartsWith("Assets/", StringComparison.Ordinal) || text.StartsWith("Packages/", StringComparison.Ordinal);
            return isAsset ? new ObjectReference(null, text) : new ObjectReference(Targets.Find(scene, text, one.Path), null);
        }

        /// <summary>From the form in which references are read.</summary>
        private static string? TextOf(JObject? reference)
        {
            var token = reference?["id"] ?? reference?["asset"] ?? reference?["path"];
            return token?.Type == JTokenType.String ? (string)token! : null;
        }

        private static bool IsNumber(JToken value) => value.Type == JTokenType.Integer || value.Type == JTokenType.Float;

        private static ToolException Wrong(SerializedValue one, string wanted, JToken value) => new ToolException(
            ToolException.InvalidArguments,
            $"{one.Path} ({one.Type}) must be {wanted}, not {Shortened(value.ToString(Newtonsoft.Json.Formatting.None))}.");

        private static string Shortened(string text) => text.Length <= 60 ? text : text.Substring(0, 60) + "...";
    }
}
