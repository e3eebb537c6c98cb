#nullable enable
using System;

namespace JobBroker.Bridge.Tools
{
    /// <summary>Bounds of a number, both inclusive; of a list, the bounds of each item.</summary>
    [AttributeUsage(AttributeTargets.Property)]
    public sealed class ParameterRangeAttribute : Attribute
    {
        public double Minimum { get; set; } = double.NegativeInfinity;

        public double Maximum { get; set; } = double.PositiveInfinity;
    }
}
