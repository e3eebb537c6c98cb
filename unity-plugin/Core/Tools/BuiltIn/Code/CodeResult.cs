#nullable enable
using System;
using System.Collections;
using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// JSON of whatever code returned. Only plain data is taken apart: the properties of Unity's objects lead round in
    /// circles and have effects, so everything else is returned as text.
    /// </summary>
    internal static class CodeResult
    {
        private const int MaxDepth = 8;
        private const int MaxItems = 10000;

        public static JToken From(object? value) => From(value, 0);

        private static JToken From(object? value, int depth)
        {
            switch (value)
            {
                case null:
                    return JValue.CreateNull();
                case JToken token:
                    return token;
                case string text:
                    return new JValue(text);
                case bool flag:
                    return new JValue(flag);
                case Enum word:
                    return new JValue(word.ToString());
                case float single when float.IsNaN(single) || float.IsInfinity(single):
                case double number when double.IsNaN(number) || double.IsInfinity(number):
                    return Text(value);
            }
            if (value is decimal || (value.GetType().IsPrimitive && !(value is char))) return new JValue(value);
            if (depth >= MaxDepth) return Text(value);
            if (value is IDictionary map) return Map(map, depth);
            if (value is IEnumerable items && IsPlain(items)) return List(items, depth);
            return IsAnonymous(value.GetType()) ? Properties(value, depth) : Text(value);
        }

        private static JToken Map(IDictionary map, int depth)
        {
            var json = new JObject();
            foreach (DictionaryEntry entry in map)
            {
                json[Convert.ToString(entry.Key, CultureInfo.InvariantCulture) ?? ""] = From(entry.Value, depth + 1);
                if (json.Count >= MaxItems) break;
            }
            return json;
        }

        private static JToken List(IEnumerable items, int depth)
        {
            var json = new JArray();
            foreach (var item in items)
            {
                json.Add(From(item, depth + 1));
                if (json.Count >= MaxItems) break;
            }
            return json;
        }

        private static JToken Properties(object value, int depth)
        {
            var json = new JObject();
            foreach (var property in value.GetType().GetProperties())
            {
                json[property.Name] = From(property.GetValue(value), depth + 1);
            }
            return json;
        }

        /// <summary>Arrays, collections and queries; Unity's Transform is enumerable too, and no list.</summary>
        private static bool IsPlain(IEnumerable items)
        {
            var type = items.GetType();
            return type.IsArray || items is ICollection
                || (type.Namespace ?? "").StartsWith("System", StringComparison.Ordinal)
                || type.GetCustomAttribute<CompilerGeneratedAttribute>() != null;
        }

        private static bool IsAnonymous(Type type) =>
            type.GetCustomAttribute<CompilerGeneratedAttribute>() != null
            && type.Name.IndexOf("AnonymousType", StringComparison.Ordinal) >= 0;

        private static JValue Text(object value) => new JValue(Convert.ToString(value, CultureInfo.InvariantCulture));
    }
}
