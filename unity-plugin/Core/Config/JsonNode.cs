#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.Bridge.Config
{
    internal enum JsonKind
    {
        Table,
        List,
        Text,
        Literal,
    }

    /// <summary>A value of a JSON text and where it stands there.</summary>
    internal sealed class JsonNode
    {
        public JsonNode(JsonKind kind, int start)
        {
            Kind = kind;
            Start = start;
        }

        public JsonKind Kind { get; }

        public int Start { get; }

        /// <summary>Behind the last character.</summary>
        public int End { get; set; }

        /// <summary>The decoded text, or a number or word as it is written.</summary>
        public string Value { get; set; } = "";

        public List<JsonProperty> Properties { get; } = new List<JsonProperty>();

        public List<JsonNode> Items { get; } = new List<JsonNode>();

        /// <summary>
        /// The property of that name; null when there is none. Throws FormatException when there are two.
        /// </summary>
        public JsonProperty? Property(string name)
        {
            var found = Properties.Where(one => one.Name == name).ToList();
            if (found.Count > 1) throw new FormatException("the key " + name + " is there twice");
            return found.FirstOrDefault();
        }

        /// <summary>The value at a path; null when there is none.</summary>
        public JsonNode? At(IEnumerable<string> path)
        {
            var node = (JsonNode?)this;
            foreach (var key in path)
            {
                node = node?.Kind == JsonKind.Table ? node.Property(key)?.Value : null;
            }
            return node;
        }

        /// <summary>Whether both say the same, however they are written; the order of keys counts.</summary>
        public static bool Same(JsonNode? one, JsonNode? other)
        {
            if (one == null || other == null) return one == other;
            return one.Kind == other.Kind
                && one.Value == other.Value
                && one.Items.Count == other.Items.Count
                && one.Items.Zip(other.Items, Same).All(same => same)
                && one.Properties.Count == other.Properties.Count
                && one.Properties.Zip(other.Properties, (left, right) =>
                    left.Name == right.Name && Same(left.Value, right.Value)).All(same => same);
        }
    }

    internal sealed class JsonProperty
    {
        public JsonProperty(string name, int start, JsonNode value)
        {
            Name = name;
            Start = start;
            Value = value;
        }

        public string Name { get; }

        /// <summary>Where its key begins; it ends with its value.</summary>
        public int Start { get; }

        public JsonNode Value { get; }
    }
}
