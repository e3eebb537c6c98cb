#nullable enable
using System.ComponentModel;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public sealed class DeleteGameObjectSchema
    {
        [Description("Id, path, or a name that only one has")]
        [RequiredParameter]
        public string Target { get; set; } = "";
    }

    public sealed class DeletedObject : ChangedObject
    {
        /// <summary>How many objects are gone, with those that were below.</summary>
        [JsonProperty("count")]
        public int Count { get; set; }
    }

    /// <summary>Deletes an object and all below it.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Deletes a game object and all below it.",
        Effect = ToolEffect.Mutating,
        Destructive = true,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class DeleteGameObjectTool : AbstractUnityTool<DeleteGameObjectSchema, DeletedObject>
    {
        private const string ToolName = "delete-game-object";

        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;

        public DeleteGameObjectTool(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
        }

        protected override Task<DeletedObject> ExecuteAsync(DeleteGameObjectSchema parameters, ToolContext context)
        {
            var one = Targets.Find(scene, parameters.Target);
            if (objects.IsPrefabRoot(one))
            {
                throw new ToolException("prefab_root", $"{one.Name} is the root of the open prefab and cannot be deleted. Delete what is below it, or the prefab itself with manage-assets.");
            }
            var answer = ObjectEdit.Tell(new DeletedObject { Count = ObjectEdit.CountOf(one) }, one, objects);
            using (var undo = objects.BeginUndo(ToolName))
            {
                objects.Delete(one);
                undo.Complete();
            }
            return Task.FromResult(answer);
        }
    }
}
