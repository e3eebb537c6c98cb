#nullable enable
using System;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum Primitive
    {
        None,
        Cube,
        Sphere,
        Capsule,
        Cylinder,
        Plane,
        Quad,
    }

    public sealed class CreateGameObjectSchema
    {
        public string Name { get; set; } = "";

        [Description("Id, path or name; empty for a root")]
        public string Parent { get; set; } = "";

        public Primitive Primitive { get; set; }

        [Description("Path of a prefab to instantiate")]
        public string Prefab { get; set; } = "";

        [Description("Local x, y, z")]
        public double[]? Position { get; set; }

        [Description("Local degrees")]
        public double[]? Rotation { get; set; }

        public double[]? Scale { get; set; }

        [Description("Component types to add")]
        public string[] Components { get; set; } = Array.Empty<string>();
    }

    /// <summary>Makes an object: empty, a primitive or an instance of a prefab.</summary>
    [McpTool(
        Name = ToolName,
        Description = "Makes a game object: empty, a primitive or from a prefab.",
        Effect = ToolEffect.Mutating,
        ExecutionClass = ExecutionClass.Quick,
        RunsInBatches = true,
        RequiredSecuritySetting = SecuritySetting.SceneEditing)]
    public sealed class CreateGameObjectTool : AbstractUnityTool<CreateGameObjectSchema, ChangedObject>
    {
        private const string ToolName = "create-game-object";

        private readonly ISceneQuery scene;
        private readonly IObjectEditing objects;

        public CreateGameObjectTool(ToolServices services)
        {
            scene = services.Scene;
            objects = services.Objects;
        }

        protected override Task<ChangedObject> ExecuteAsync(CreateGameObjectSchema parameters, ToolContext context)
        {
            var wanted = Wanted(parameters);
            var components = parameters.Components.Select(name => ObjectEdit.ComponentType(objects, name)).ToList();
            var placed = new ObjectChange
            {
                Position = ObjectEdit.Three(nameof(parameters.Position), parameters.Position),
                Rotation = ObjectEdit.Three(nameof(parameters.Rotation), parameters.Rotation),
                Scale = ObjectEdit.Three(nameof(parameters.Scale), parameters.Scale),
            };
            using (var undo = objects.BeginUndo(ToolName))
            {
                var made = objects.Change(objects.Create(wanted), placed);
                foreach (var component in components) objects.Add(made, component);
                undo.Complete();
                return Task.FromResult(ObjectEdit.Tell(new ChangedObject(), made, objects));
            }
        }

        private NewObject Wanted(CreateGameObjectSchema parameters)
        {
            var primitive = parameters.Primitive == Primitive.None ? null : parameters.Primitive.ToString();
            var prefab = parameters.Prefab.Length == 0 ? null : parameters.Prefab;
            if (primitive != null && prefab != null)
            {
                throw new ToolException(ToolException.InvalidArguments, "Give Primitive or Prefab, not both.");
            }
            if (prefab != null && !objects.IsPrefab(prefab))
            {
                throw new ToolException("prefab_not_found", $"There is no prefab {prefab}: give its path, as Assets/Prefabs/Enemy.prefab.");
            }
            if (parameters.Name.IndexOf('/') >= 0)
            {
                throw new ToolException(ToolException.InvalidArguments, "Name has a slash, which separates names in paths: use Parent.");
            }
            var parent = parameters.Parent.Trim('/').Length == 0 ? null : Targets.Find(scene, parameters.Parent, nameof(parameters.Parent));
            return new NewObject(parameters.Name, parent, primitive, prefab);
        }
    }
}
