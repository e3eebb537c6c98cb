#nullable enable
using System;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.Parameters
{
    /// <summary>
    /// A tool's schema class, read when it is first needed. Not a part of the generic tool class: in the second script domain of
    /// a process, Mono 6.8 ends the process over a lambda in the constructor of a generic class.
    /// </summary>
    internal sealed class SchemaClass
    {
        private readonly Lazy<ParameterShape> shape;
        private readonly Lazy<JObject> inputSchema;

        public SchemaClass(Type type)
        {
            shape = new Lazy<ParameterShape>(() => ParameterShape.Of(type));
            inputSchema = new Lazy<JObject>(() => ToolParameterSchemaGenerator.InputSchema(shape.Value));
        }

        /// <summary>Throws NotSupportedException naming what cannot be described.</summary>
        public ParameterShape Shape => shape.Value;

        /// <summary>A copy; throws the same.</summary>
        public JObject InputSchema() => (JObject)inputSchema.Value.DeepClone();
    }
}
