using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.EditorHost.Native.Scenes;

namespace JobBroker.EditorHost.Domain.Scenes;

/// <summary>
/// Changes the native side's objects. Its space is simpler than Unity's: the world's position is the sum of the parents', and
/// rotations and scales of parents turn and stretch nothing.
/// </summary>
internal sealed class HostObjects(SceneWorld world, HostScenes scenes) : IObjectEditing
{
    private const string Position = "m_LocalPosition";

    public bool IsPlaying => world.IsPlaying;

    public IReadOnlyList<string> Tags { get; } = ["Untagged", "Respawn", "MainCamera", "Player"];

    public IReadOnlyList<string> Layers { get; } = ["Default", "TransparentFX", "Ignore Raycast", "", "Water", "UI"];

    public IUndoStep BeginUndo(string name) => new Step(world.Begin(name));

    public bool IsPrefab(string path) => world.IsPrefab(path);

    public SceneObject Create(NewObject wanted)
    {
        var node = wanted.Prefab != null ? world.Instance(wanted.Prefab)
            : wanted.Primitive != null ? world.Made(wanted.Primitive, "MeshFilter", "MeshRenderer", "BoxCollider")
            : world.Made("GameObject");
        if (wanted.Name.Length > 0) node.Name = wanted.Name;
        Place(node, wanted.Parent == null ? world.Prefab?.Roots[0] : NodeOf(wanted.Parent), world.Scenes[0]);
        return Changed(node);
    }

    public SceneObject Change(SceneObject one, ObjectChange change)
    {
        var node = NodeOf(one);
        node.Name = change.Name ?? node.Name;
        node.IsActive = change.Active ?? node.IsActive;
        node.Tag = change.Tag ?? node.Tag;
        node.Layer = change.Layer ?? node.Layer;
        if (change.Position != null)
        {
            node.SetLocal(Position, change.IsWorld ? Plus(change.Position, WorldOf(node.Parent), -1) : change.Position);
        }
        if (change.Rotation != null) node.SetLocal("m_LocalRotation", Turned(change.Rotation));
        if (change.Scale != null) node.SetLocal("m_LocalScale", change.Scale);
        return Changed(node);
    }

    public SceneObject Move(SceneObject one, SceneObject? parent, bool keepsWorld)
    {
        var node = NodeOf(one);
        var at = WorldOf(node);
        var scene = world.SceneOf(node);
        Place(node, parent != null ? NodeOf(parent) : scene.IsPrefab ? scene.Roots[0] : null, scene);
        if (keepsWorld) node.SetLocal(Position, Plus(at, WorldOf(node.Parent), -1));
        return Changed(node);
    }

    public void Delete(SceneObject one)
    {
        var node = NodeOf(one);
        var scene = world.SceneOf(node);
        scene.IsDirty = true;
        node.Attach(null);
        scene.Roots.Remove(node);
    }

    public bool IsInPrefabMode(SceneObject one) => world.SceneOf(NodeOf(one)).IsPrefab;

    public bool IsPrefabRoot(SceneObject one) => world.Prefab?.Roots[0] == NodeOf(one);

    public IReadOnlyList<ObjectComponent> ComponentsOf(SceneObject one) => NodeOf(one).Components
        .Select((component, index) => ComponentOf(one, component, index))
        .ToList();

    public IReadOnlyList<string> ComponentTypes(string name) => ComponentCatalogue.Types
        .Where(type => string.Equals(type, name, StringComparison.OrdinalIgnoreCase)
            || string.Equals(ShortName(type), name, StringComparison.OrdinalIgnoreCase))
        .ToList();

    public ObjectComponent Add(SceneObject one, string fullTypeName)
    {
        var node = NodeOf(one);
        var type = ShortName(fullTypeName);
        if (type is "Transform" or "Rigidbody" && node.Components.Any(other => other.Type == type))
        {
            throw new ToolException("component_refused", $"Unity does not add {type} to {node.Name}: it allows one.");
        }
        node.Components.Add(new NodeComponent(type));
        Changed(node);
        return ComponentsOf(one)[^1];
    }

    public void Remove(ObjectComponent component)
    {
        var (number, index) = ((long, int))component.Handle!;
        var node = world.Find(number)!;
        node.Components.RemoveAt(index);
        Changed(node);
    }

    public IPropertyEditing Edit(ObjectComponent component)
    {
        var (number, index) = ((long, int))component.Handle!;
        var node = world.Find(number)!;
        return new HostProperties(node.Components[index], world, scenes, () => Changed(node));
    }

    private static ObjectComponent ComponentOf(SceneObject one, NodeComponent component, int index) =>
        new(component.Type, ComponentCatalogue.FullName(component.Type), ((long)one.Handle!, index));

    private static string ShortName(string type) => type[(type.LastIndexOf('.') + 1)..];

    private static double[] WorldOf(SceneNode? node) =>
        node == null ? [0, 0, 0] : Plus(node.Local(Position), WorldOf(node.Parent), 1);

    private static double[] Plus(double[] left, double[] right, int sign) => left.Select((one, axis) => one + sign * right[axis]).ToArray();

    /// <summary>The quaternion of Unity's Euler angles: around z, then x, then y.</summary>
    private static double[] Turned(double[] degrees)
    {
        var half = degrees.Select(one => one * Math.PI / 360).ToArray();
        var (sx, sy, sz) = (Math.Sin(half[0]), Math.Sin(half[1]), Math.Sin(half[2]));
        var (cx, cy, cz) = (Math.Cos(half[0]), Math.Cos(half[1]), Math.Cos(half[2]));
        return
        [
            (float)(sx * cy * cz + cx * sy * sz), (float)(cx * sy * cz - sx * cy * sz),
            (float)(cx * cy * sz - sx * sy * cz), (float)(cx * cy * cz + sx * sy * sz),
        ];
    }

    private void Place(SceneNode node, SceneNode? parent, NodeScene scene)
    {
        foreach (var open in world.Open) open.Roots.Remove(node);
        node.Attach(parent);
        if (parent == null) scene.Roots.Add(node);
    }

    private SceneObject Changed(SceneNode node)
    {
        world.SceneOf(node).IsDirty = true;
        return scenes.Read(node);
    }

    private SceneNode NodeOf(SceneObject one) =>
        world.Find((long)one.Handle!) ?? throw new ToolException("game_object_not_found", $"{one.Name} is gone.");

    private sealed class Step(SceneWorld.UndoStep step) : IUndoStep
    {
        public void Complete() => step.Complete();

        public void Dispose() => step.Dispose();
    }
}
