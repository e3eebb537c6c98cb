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
    public sealed class ModifyComponentSchema
    {
        [Description("Id, path, or a name that only one has")]
        [RequiredParameter]
        public string Target { get; set; } = "";

        [Description("Type; Type[1] for the second")]
        [RequiredParameter]
        public string Component { get; set; } = "";

        [Description("Add it first, even if there is one")]
        public bool Add { get; set; }

        [Description("Values by serialized path; objects by id or asset path")]
        public Dictionary<string, JToken> Properties { get; set; } = new Dictionary<string, JToken>();
    }

    public sealed class ChangedComponent : ChangedObject
    {
        [JsonProperty("component")]
        public string Component { get; set; } = "";

        [JsonProperty("added")]
        public bool Added { get; set; }

        /// <summary>What was set, as it is now.</summary>
        [JsonProperty("properties")]
        public JObject Properties { get; set; } = new JObject();
    }

    /// <summary>Adds a component, sets serialized properties of one, or both.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Adds a component to a game object, or sets serialized properties of one.",
        Effect = ToolEffect.Mutating,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class ModifyComponentTool : AbstractUnityTool<ModifyComponentSchema, ChangedComponent>
    {
        private const string ToolName = "modify-component";

        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;

        public ModifyComponentTool(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
        }

        protected override Task<ChangedComponent> ExecuteAsync(ModifyComponentSchema parameters, ToolContext context)
        {
            if (!parameters.Add && parameters.Properties.Count == 0)
            {
                throw new ToolException(ToolException.InvalidArguments, "Nothing to do: give Properties, or Add.");
            }
            var one = Targets.Find(scene, parameters.Target);
            var type = parameters.Add ? ObjectEdit.ComponentType(objects, parameters.Component) : null;
            using (var undo = objects.BeginUndo(ToolName))
            {
                var component = type == null
                    ? ComponentTargets.Find(objects, one, parameters.Component)
                    : objects.Add(one, type);
                var answer = ObjectEdit.Tell(new ChangedComponent { Added = parameters.Add }, one, objects);
                answer.Component = NameOn(one, component);
                answer.Properties = Set(component, parameters.Properties);
                undo.Complete();
                return Task.FromResult(answer);
            }
        }

        /// <summary>Sets all of them or, when one does not fit, none.</summary>
        private JObject Set(ObjectComponent component, Dictionary<string, JToken> values)
        {
            var now = new JObject();
            if (values.Count == 0) return now;
            if (component.Handle == null) throw new ToolException("missing_script", "The script of that component is missing. Put the script back into the project and call compile, then call again.");
            using (var properties = objects.Edit(component))
            {
                var writer = new PropertyWriter(properties, scene);
                foreach (var value in values) writer.Write(component.Type, value.Key, value.Value);
                properties.Apply();
                var reader = new PropertyReader(properties, values.Count + 20);
                foreach (var name in values.Keys)
                {
                    var property = PropertyPath.Find(properties, component.Type, name);
                    now[property.Path] = reader.Read(property);
                }
            }
            return now;
        }

        private string NameOn(SceneObject one, ObjectComponent component)
        {
            var all = objects.ComponentsOf(one);
            var index = all.ToList().FindIndex(other => Equals(other.Handle, component.Handle));
            return index < 0 ? component.Type : ComponentTargets.NameOf(all, index);
        }
    }
}
