#nullable enable
using System.ComponentModel;
using System.Reflection;

namespace JobBroker.Bridge.Tools.Parameters
{
    /// <summary>One property of a schema class.</summary>
    internal sealed class ParameterMember
    {
        public ParameterMember(PropertyInfo property, ParameterShape shape)
        {
            Property = property;
            Shape = shape;
            Description = property.GetCustomAttribute<DescriptionAttribute>()?.Description ?? "";
            Required = property.GetCustomAttribute<RequiredParameterAttribute>() != null;
            Range = property.GetCustomAttribute<ParameterRangeAttribute>();
        }

        public PropertyInfo Property { get; }

        public ParameterShape Shape { get; }

        public string Description { get; }

        public bool Required { get; }

        /// <summary>Null when any number will do.</summary>
        public ParameterRangeAttribute? Range { get; }

        /// <summary>The parameter's name in PascalCase.</summary>
        public string Name => Property.Name;

        /// <summary>The same name as JSON people write it.</summary>
        public string CamelName => char.ToLowerInvariant(Name[0]) + Name.Substring(1);
    }
}
