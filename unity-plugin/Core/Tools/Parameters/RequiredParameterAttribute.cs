#nullable enable
using System;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// Marks a schema property that every call must give. Nothing else makes one required: compilers leave no reliable
    /// trace of nullability, and for a value type a default is indistinguishable from an omission.
    /// </summary>
    [AttributeUsage(AttributeTargets.Property)]
    public sealed class RequiredParameterAttribute : Attribute
    {
    }
}
