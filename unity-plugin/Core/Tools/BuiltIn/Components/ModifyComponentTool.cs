#nullable enable
using System.Collections.Generic;
using System.ComponentModel;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
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

        [Description("Values by serialized path; objects by id or asset path")]
        [RequiredParameter]
        public Dictionary<string, JToken> Properties { get; set; } = new Dictionary<string, JToken>();
    }

    /// <summary>
    /// Sets serialized properties of a component that is there. Setting them twice is setting them once, so that the same call
    /// may run again after another one.
    /// </summary>
    [McpTool(
        Name = ToolName,
        Description = "Sets serialized properties of a game object's component.",
        Effect = ToolEffect.Idempotent,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class ModifyComponentTool : AbstractUnityTool<ModifyComponentSchema, ChangedComponent>
    {
        private const string ToolName = "modify-component";

        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;
        private readonly ComponentEdit edit;

        public ModifyComponentTool(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
            edit = new ComponentEdit(services);
        }

        protected override Task<ChangedComponent> ExecuteAsync(ModifyComponentSchema parameters, ToolContext context)
        {
            if (parameters.Properties.Count == 0)
            {
                throw new ToolException(ToolException.InvalidArguments, "Nothing to do: Properties is empty.");
            }
            var one = Targets.Find(scene, parameters.Target);
            const string advice = " To add one, use " + AddComponentTool.ToolName + ".";
            var component = ComponentTargets.Find(objects, one, parameters.Component, advice);
            using (var undo = objects.BeginUndo(ToolName))
            {
                var answer = edit.Set(one, component, parameters.Properties);
                undo.Complete();
                return Task.FromResult(answer);
            }
        }
    }
}
