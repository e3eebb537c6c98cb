#nullable enable
using System;
using System.ComponentModel;
using System.Globalization;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum TransformSpace
    {
        Local,
        World,
    }

    public sealed class ModifyGameObjectSchema
    {
        [Description("Id, path, or a name that only one has")]
        [RequiredParameter]
        public string Target { get; set; } = "";

        public string? Name { get; set; }

        [Description("Id, path or name; / for a root")]
        public string? Parent { get; set; }

        [Description("x, y, z")]
        public double[]? Position { get; set; }

        [Description("Degrees")]
        public double[]? Rotation { get; set; }

        [Description("Always local")]
        public double[]? Scale { get; set; }

        [Description("Of Position and Rotation, and what a new Parent leaves as it is")]
        public TransformSpace Space { get; set; }

        public bool? Active { get; set; }

        public string? Tag { get; set; }

        [Description("Name or number")]
        public string? Layer { get; set; }
    }

    /// <summary>Changes an object itself; its components are another tool's.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Changes name, parent, transform, active, tag or layer of a game object.",
        Effect = ToolEffect.Idempotent,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class ModifyGameObjectTool : AbstractUnityTool<ModifyGameObjectSchema, ChangedObject>
    {
        private const string ToolName = "modify-game-object";

        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;

        public ModifyGameObjectTool(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
        }

        protected override Task<ChangedObject> ExecuteAsync(ModifyGameObjectSchema parameters, ToolContext context)
        {
            var one = Targets.Find(scene, parameters.Target);
            var change = Change(parameters);
            var parent = parameters.Parent == null || parameters.Parent.Trim('/').Length == 0 ? null : ParentFor(one, parameters.Parent);
            if (parameters.Parent != null && objects.IsPrefabRoot(one))
            {
                throw new ToolException("prefab_root", $"{one.Name} is the root of the open prefab and cannot have a parent. Leave Parent out, or move what is below it.");
            }
            using (var undo = objects.BeginUndo(ToolName))
            {
                if (parameters.Parent != null) one = objects.Move(one, parent, change.IsWorld);
                one = objects.Change(one, change);
                undo.Complete();
            }
            return Task.FromResult(ObjectEdit.Tell(new ChangedObject(), one, objects));
        }

        private ObjectChange Change(ModifyGameObjectSchema parameters)
        {
            if (parameters.Name != null && (parameters.Name.Length == 0 || parameters.Name.IndexOf('/') >= 0))
            {
                throw new ToolException(ToolException.InvalidArguments, "Name must not be empty, and has no slash, which separates names in paths.");
            }
            if (parameters.Tag != null && !objects.Tags.Contains(parameters.Tag))
            {
                throw new ToolException("tag_not_found", $"There is no tag {parameters.Tag}. There are {string.Join(", ", objects.Tags)}.");
            }
            return new ObjectChange
            {
                Name = parameters.Name,
                Active = parameters.Active,
                Tag = parameters.Tag,
                Layer = parameters.Layer == null ? null : (int?)LayerOf(parameters.Layer),
                IsWorld = parameters.Space == TransformSpace.World,
                Position = ObjectEdit.Three(nameof(parameters.Position), parameters.Position),
                Rotation = ObjectEdit.Three(nameof(parameters.Rotation), parameters.Rotation),
                Scale = ObjectEdit.Three(nameof(parameters.Scale), parameters.Scale),
            };
        }

        private int LayerOf(string layer)
        {
            var layers = objects.Layers;
            for (var number = 0; number < layers.Count; number++)
            {
                if (layers[number] == layer && layer.Length > 0) return number;
            }
            if (int.TryParse(layer, NumberStyles.None, CultureInfo.InvariantCulture, out var given) && given < 32) return given;
            var named = layers.Select((name, number) => $"{name} ({number})").Where(name => name[0] != ' ');
            throw new ToolException("layer_not_found", $"There is no layer {layer}. There are {string.Join(", ", named)}.");
        }

        private SceneObject ParentFor(SceneObject one, string given)
        {
            var parent = Targets.Find(scene, given, nameof(ModifyGameObjectSchema.Parent));
            if (objects.IsInPrefabMode(one) != objects.IsInPrefabMode(parent))
            {
                throw new ToolException("parent_refused", $"{one.Name} and {given} are not both in the open prefab.");
            }
            if (SceneWalk.From(new[] { one }, true).All(entry => entry.Key.Id != parent.Id)) return parent;
            throw new ToolException("parent_is_below", $"{given} is {one.Name} itself or below it, and cannot become its parent. Choose a Parent outside of it.");
        }
    }
}
