#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class ChangedComponent : ChangedObject
    {
        [JsonProperty("component")]
        public string Component { get; set; } = "";

        /// <summary>What was set, as it is now.</summary>
        [JsonProperty("properties")]
        public JObject Properties { get; set; } = new JObject();
    }

    /// <summary>What add-component and modify-component have in common. Main thread only.</summary>
    internal sealed class ComponentEdit
    {
        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;

        public ComponentEdit(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
        }

        /// <summary>Sets all values or, when one does not fit, none, and tells the component as it is then.</summary>
        public ChangedComponent Set(SceneObject one, ObjectComponent component, Dictionary<string, JToken> values)
        {
            var answer = ObjectEdit.Tell(new ChangedComponent(), one, objects);
            answer.Component = NameOn(one, component);
            answer.Properties = Set(component, values);
            return answer;
        }

        private JObject Set(ObjectComponent component, Dictionary<string, JToken> values)
        {
            var now = new JObject();
            if (values.Count == 0) return now;
            if (component.Handle == null) throw new ToolException("missing_script", "The script of that component is missing.");
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
