#nullable enable
using System.ComponentModel;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class RemoveComponentSchema
    {
        [Description("Id, path, or a name that only one has")]
        [RequiredParameter]
        public string Target { get; set; } = "";

        [Description("Type; Type[1] for the second")]
        [RequiredParameter]
        public string Component { get; set; } = "";
    }

    /// <summary>Removes a component.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Removes a component of a game object.",
        Effect = ToolEffect.Mutating,
        Destructive = true,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class RemoveComponentTool : AbstractUnityTool<RemoveComponentSchema, ChangedObject>
    {
        private const string ToolName = "remove-component";

        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;

        public RemoveComponentTool(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
        }

        protected override Task<ChangedObject> ExecuteAsync(RemoveComponentSchema parameters, ToolContext context)
        {
            var one = Targets.Find(scene, parameters.Target);
            var component = ComponentTargets.Find(objects, one, parameters.Component);
            if (component.Type == "Transform" || component.Type == "RectTransform")
            {
                throw new ToolException("component_required", "An object cannot do without its transform: delete-game-object deletes it.");
            }
            using (var undo = objects.BeginUndo(ToolName))
            {
                objects.Remove(component);
                undo.Complete();
            }
            return Task.FromResult(ObjectEdit.Tell(new ChangedObject(), one, objects));
        }
    }
}
