#nullable enable
using System;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Serialized properties as JSON, in the form in which <see cref="PropertyWriter"/> takes them back.</summary>
    internal sealed class PropertyReader
    {
        /// <summary>Serialized references may go round in circles.</summary>
        private const int MostLevels = 6;

        private readonly IPropertyEditing properties;
        private readonly int mostElements;

        /// <param name="mostElements">Of each list.</param>
        public PropertyReader(IPropertyEditing properties, int mostElements)
        {
            this.properties = properties;
            this.mostElements = mostElements;
        }

        /// <summary>All properties of the component.</summary>
        public JObject All() => Below("", 0);

        /// <summary>One property, with what is below it.</summary>
        public JToken Read(SerializedValue one, int level = 0)
        {
            switch (one.Kind)
            {
                case PropertyKind.Group:
                    return level < MostLevels ? Below(one.Path, level) : (JToken)one.Type;
                case PropertyKind.List:
                    return level < MostLevels ? ListOf(one, level) : (JToken)one.Type;
                case PropertyKind.Vector:
                case PropertyKind.Color:
                    return new JArray(((double[])one.Value!).Select(Short));
                case PropertyKind.Number:
                    return Short((double)one.Value!);
                case PropertyKind.Reference:
                    return ReferenceOf(one.Value as ObjectReference);
                case PropertyKind.Other:
                    return one.Type;
                default:
                    return one.Value == null ? JValue.CreateNull() : JToken.FromObject(one.Value);
            }
        }

        private JObject Below(string path, int level)
        {
            var read = new JObject();
            foreach (var name in properties.Names(path))
            {
                var one = properties.Find(path.Length == 0 ? name : $"{path}.{name}");
                if (one != null) read[name] = Read(one, level + 1);
            }
            return read;
        }

        private JToken ListOf(SerializedValue list, int level)
        {
            var shown = Enumerable.Range(0, list.Size < mostElements ? list.Size : mostElements)
                .Select(index => properties.Find($"{list.Path}.Array.data[{index.ToString(CultureInfo.InvariantCulture)}]"))
                .Where(one => one != null)
                .Select(one => Read(one!, level + 1));
            var elements = new JArray(shown);
            return elements.Count == list.Size ? (JToken)elements : new JObject { ["size"] = list.Size, ["first"] = elements };
        }

        private static JToken ReferenceOf(ObjectReference? reference)
        {
            if (reference == null) return JValue.CreateNull();
            var read = new JObject { ["type"] = reference.Type };
            if (reference.InScene != null)
            {
                read["id"] = reference.InScene.Id;
                read["path"] = SceneWalk.Rooted(reference.InScene.Path);
            }
            else
            {
                read["asset"] = reference.Asset;
            }
            return read;
        }

        /// <summary>Whole numbers without a point, others with the digits that single precision needs, as most of Unity's have.</summary>
        private static JValue Short(double number)
        {
            if (double.IsNaN(number) || double.IsInfinity(number)) return new JValue(number.ToString(CultureInfo.InvariantCulture));
            if (number == Math.Floor(number) && Math.Abs(number) < 1e15) return new JValue((long)number);
            var single = (float)number;
            return new JValue(single == number
                ? double.Parse(single.ToString("R", CultureInfo.InvariantCulture), CultureInfo.InvariantCulture)
                : number);
        }
    }
}
