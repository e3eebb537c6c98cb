#nullable enable
using System.Collections.Generic;
using System.ComponentModel;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class AddComponentSchema
    {
        [Description("Id, path, or a name that only one has")]
        [RequiredParameter]
        public string Target { get; set; } = "";

        [Description("Type")]
        [RequiredParameter]
        public string Component { get; set; } = "";

        [Description("Values by serialized path; objects by id or asset path")]
        public Dictionary<string, JToken> Properties { get; set; } = new Dictionary<string, JToken>();
    }

    /// <summary>Adds a component, each time another one; modify-component changes one that is there.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Adds a component to a game object, and sets its properties.",
        Effect = ToolEffect.Mutating,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class AddComponentTool : AbstractUnityTool<AddComponentSchema, ChangedComponent>
    {
        public const string ToolName = "add-component";

        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;
        private readonly ComponentEdit edit;

        public AddComponentTool(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
            edit = new ComponentEdit(services);
        }

        protected override Task<ChangedComponent> ExecuteAsync(AddComponentSchema parameters, ToolContext context)
        {
            var one = Targets.Find(scene, parameters.Target);
            var type = ObjectEdit.ComponentType(objects, parameters.Component);
            using (var undo = objects.BeginUndo(ToolName))
            {
                var answer = edit.Set(one, objects.Add(one, type), parameters.Properties);
                undo.Complete();
                return Task.FromResult(answer);
            }
        }
    }
}
