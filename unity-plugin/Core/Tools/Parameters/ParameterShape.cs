#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.Serialization;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.Parameters
{
    internal enum ShapeKind
    {
        Text,
        Flag,
        Integer,
        Number,
        Choice,
        List,
        Map,
        Record,
        Anything,
    }

    /// <summary>
    /// What a C# type looks like as a parameter: the one reading of it that both the schema and the binding follow.
    /// </summary>
    internal sealed class ParameterShape
    {
        private static readonly Type[] Integers =
        {
            typeof(int), typeof(long), typeof(short), typeof(byte),
            typeof(sbyte), typeof(ushort), typeof(uint), typeof(ulong),
        };

        private static readonly Type[] Numbers = { typeof(float), typeof(double), typeof(decimal) };

        private ParameterShape(ShapeKind kind, Type type)
        {
            Kind = kind;
            Type = type;
        }

        public ShapeKind Kind { get; }

        /// <summary>The type that a value is bound to, without Nullable.</summary>
        public Type Type { get; }

        /// <summary>The shape of the items of a list or of the values of a map.</summary>
        public ParameterShape? Items { get; private set; }

        /// <summary>The properties of a record, those of base classes first.</summary>
        public IReadOnlyList<ParameterMember> Members { get; private set; } = Array.Empty<ParameterMember>();

        /// <summary>The words of a choice with their values.</summary>
        public IReadOnlyList<KeyValuePair<string, object>> Choices { get; private set; } =
            Array.Empty<KeyValuePair<string, object>>();

        /// <summary>
        /// Reads a type; throws <see cref="NotSupportedException"/> with a sentence for one that has no shape.
        /// </summary>
        public static ParameterShape Of(Type type) => Of(type, new List<Type>());

        private static ParameterShape Of(Type declared, List<Type> open)
        {
            var type = Nullable.GetUnderlyingType(declared) ?? declared;
            if (type == typeof(string)) return new ParameterShape(ShapeKind.Text, type);
            if (type == typeof(bool)) return new ParameterShape(ShapeKind.Flag, type);
            if (type == typeof(object) || type == typeof(JToken)) return new ParameterShape(ShapeKind.Anything, type);
            if (Integers.Contains(type)) return new ParameterShape(ShapeKind.Integer, type);
            if (Numbers.Contains(type)) return new ParameterShape(ShapeKind.Number, type);
            if (type.IsEnum) return new ParameterShape(ShapeKind.Choice, type) { Choices = ChoicesOf(type) };
            return MapOf(type, open) ?? ListOf(type, open) ?? RecordOf(type, open);
        }

        private static ParameterShape? MapOf(Type type, List<Type> open)
        {
            if (!type.IsGenericType || type.GetGenericArguments().Length != 2) return null;
            var arguments = type.GetGenericArguments();
            var dictionary = typeof(Dictionary<,>).MakeGenericType(arguments);
            if (arguments[0] != typeof(string) || !type.IsAssignableFrom(dictionary)) return null;
            return new ParameterShape(ShapeKind.Map, dictionary) { Items = Of(arguments[1], open) };
        }

        private static ParameterShape? ListOf(Type type, List<Type> open)
        {
            if (type.IsArray && type.GetArrayRank() == 1)
            {
                return new ParameterShape(ShapeKind.List, type) { Items = Of(type.GetElementType()!, open) };
            }
            if (!type.IsGenericType || type.GetGenericArguments().Length != 1) return null;
            var item = type.GetGenericArguments()[0];
            var list = typeof(List<>).MakeGenericType(item);
            if (!type.IsAssignableFrom(list)) return null;
            return new ParameterShape(ShapeKind.List, list) { Items = Of(item, open) };
        }

        private static ParameterShape RecordOf(Type type, List<Type> open)
        {
            if (open.Contains(type)) throw new NotSupportedException($"{type.Name} contains itself.");
            var canBeMade = !type.IsAbstract && type.GetConstructor(Type.EmptyTypes) != null;
            if (!type.IsClass || !canBeMade || (type.Namespace ?? "").StartsWith("System", StringComparison.Ordinal))
            {
                throw new NotSupportedException(
                    $"{type.Name} cannot be a parameter: use text, numbers, bools, enums, lists, string-keyed " +
                    "dictionaries, or a class with a constructor that takes nothing.");
            }
            open.Add(type);
            var members = Lineage(type).SelectMany(Declared).Select(property => MemberOf(property, open)).ToList();
            open.Remove(type);
            return new ParameterShape(ShapeKind.Record, type) { Members = members };
        }

        private static ParameterMember MemberOf(PropertyInfo property, List<Type> open)
        {
            if (!char.IsUpper(property.Name[0]))
            {
                throw new NotSupportedException(
                    $"{property.DeclaringType?.Name}.{property.Name} must begin with a capital.");
            }
            return new ParameterMember(property, Of(property.PropertyType, open));
        }

        private static IEnumerable<Type> Lineage(Type type)
        {
            var types = new Stack<Type>();
            for (Type? at = type; at != null && at != typeof(object); at = at.BaseType) types.Push(at);
            return types;
        }

        private static IEnumerable<PropertyInfo> Declared(Type type) =>
            type.GetProperties(BindingFlags.Instance | BindingFlags.Public | BindingFlags.DeclaredOnly)
                .Where(property => property.GetIndexParameters().Length == 0)
                .Where(property => property.GetGetMethod() != null && property.GetSetMethod() != null)
                .OrderBy(property => property.MetadataToken);

        private static List<KeyValuePair<string, object>> ChoicesOf(Type type) =>
            type.GetFields(BindingFlags.Public | BindingFlags.Static)
                .OrderBy(field => field.MetadataToken)
                .Select(field => new KeyValuePair<string, object>(Word(field), field.GetValue(null)!))
                .ToList();

        private static string Word(FieldInfo field) =>
            field.GetCustomAttribute<EnumMemberAttribute>()?.Value ?? field.Name;
    }
}
