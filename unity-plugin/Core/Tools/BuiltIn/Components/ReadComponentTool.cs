#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class ReadComponentSchema
    {
        [Description("Id, path, or a name that only one has")]
        [RequiredParameter]
        public string Target { get; set; } = "";

        [Description("Type; empty for all")]
        public string Component { get; set; } = "";

        [Description("Only this property")]
        public string Property { get; set; } = "";

        [Description("At most this many elements of a list")]
        [ParameterRange(Minimum = 0)]
        public int MaxResults { get; set; } = 20;
    }

    public sealed class ReadComponentResponse
    {
        [JsonProperty("id")]
        public string Id { get; set; } = "";

        [JsonProperty("path")]
        public string Path { get; set; } = "";

        /// <summary>By type; the second of a type is Type[1].</summary>
        [JsonProperty("components")]
        public IReadOnlyDictionary<string, JObject> Components { get; set; } = new Dictionary<string, JObject>();
    }

    /// <summary>Reads serialized properties; no getter of a project's code is called.</summary>
    [McpTool(
        Name = "read-component",
        Description = "Reads the serialized properties of a game object's components.",
        Effect = ToolEffect.ReadOnly,
        RunsInBatches = true,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class ReadComponentTool : AbstractUnityTool<ReadComponentSchema, ReadComponentResponse>
    {
        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;

        public ReadComponentTool(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
        }

        protected override Task<ReadComponentResponse> ExecuteAsync(ReadComponentSchema parameters, ToolContext context)
        {
            if (parameters.Property.Length > 0 && parameters.Component.Length == 0)
            {
                throw new ToolException(ToolException.InvalidArguments, "Property is of one component: give Component too.");
            }
            var one = Targets.Find(scene, parameters.Target);
            var all = objects.ComponentsOf(one);
            var wanted = parameters.Component.Length == 0 ? null : ComponentTargets.Find(objects, one, parameters.Component);
            var read = new Dictionary<string, JObject>(StringComparer.Ordinal);
            for (var index = 0; index < all.Count; index++)
            {
                if (wanted != null && !Equals(all[index].Handle, wanted.Handle)) continue;
                read[ComponentTargets.NameOf(all, index)] = all[index].Handle == null ? new JObject() : Read(all[index], parameters);
            }
            return Task.FromResult(new ReadComponentResponse
            {
                Id = one.Id,
                Path = SceneWalk.Rooted(one.Path),
                Components = read,
            });
        }

        private JObject Read(ObjectComponent component, ReadComponentSchema parameters)
        {
            using (var properties = objects.Edit(component))
            {
                var reader = new PropertyReader(properties, parameters.MaxResults);
                if (parameters.Property.Length == 0) return reader.All();
                var property = PropertyPath.Find(properties, component.Type, parameters.Property);
                return new JObject { [property.Path] = reader.Read(property) };
            }
        }
    }
}
