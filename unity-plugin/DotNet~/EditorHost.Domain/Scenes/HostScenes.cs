using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.EditorHost.Native.Scenes;

namespace JobBroker.EditorHost.Domain.Scenes;

/// <summary>The scenes of the native side. Objects are held by their numbers: Undo puts others in their place.</summary>
internal sealed class HostScenes(SceneWorld world) : ISceneQuery, ISceneFiles
{
    public IReadOnlyList<SceneObject> Roots() => world.Listed > 0
        ? Enumerable.Range(0, world.Listed).GroupBy(index => index / 100).Select(Listed).ToList()
        : world.Open.SelectMany(scene => scene.Roots.Select(root => Read(root, scene))).ToList();

    public SceneObject? Find(string id)
    {
        var digits = id.Split('@')[0].TrimStart('#');
        var node = long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? world.Find(number) : null;
        var found = node == null ? null : Read(node);
        return found?.Id == id ? found : null;
    }

    public IReadOnlyList<string> Selection() => world.Scenes[0].Roots.Take(1).Select(root => root.Path).ToList();

    public IReadOnlyList<ComponentDetails> Components(SceneObject target, bool inherited) =>
        target.Components.Select(type => new ComponentDetails(type, ComponentCatalogue.FullName(type), [])).ToList();

    public IReadOnlyList<LoadedScene> Open() => world.Open
        .Select(scene => new LoadedScene(scene.Name, scene.Path, scene.IsDirty, scene == world.Scenes[0], scene.IsPrefab, scene))
        .ToList();

    public IReadOnlyList<string> Known() => world.SceneFiles.ToList();

    public void Load(string path, bool additive) => world.Load(path, additive);

    public LoadedScene Make(bool empty, bool additive)
    {
        var made = world.Make(empty, additive);
        return Open().First(scene => scene.Handle == made);
    }

    public bool Save(LoadedScene scene, string path) => world.Save((NodeScene)scene.Handle!, path);

    public void Forget(LoadedScene prefab) => ((NodeScene)prefab.Handle!).IsDirty = false;

    public SceneObject Read(SceneNode node) => Read(node, world.SceneOf(node));

    /// <summary>A root with the objects below it, none of which is kept.</summary>
    private static SceneObject Listed(IGrouping<int, int> indices) => Listed(
        indices.Key * 100, $"Root{indices.Key}", "", indices.Skip(1).Select(index => Listed(index, $"Object{index}", $"Root{indices.Key}/", [])));

    private static SceneObject Listed(int index, string name, string parent, IEnumerable<SceneObject> children) => new(
        () => IdIn(SceneWorld.First, index),
        name,
        parent + name,
        "SampleScene",
        true,
        "Untagged",
        0,
        index % 3 == 0 ? ["Transform", "Camera"] : ["Transform", "MeshRenderer"],
        children);

    private static SceneObject Read(SceneNode node, NodeScene scene) => new(
        () => IdOf(node, scene),
        node.Name,
        node.Path,
        scene.Name,
        node.IsActiveInHierarchy,
        node.Tag,
        node.Layer,
        node.Components.Select(one => one.Type),
        node.Children.Select(child => Read(child, scene)),
        node.Number);

    private static string IdOf(SceneNode node, NodeScene scene) => scene.Path.Length == 0 || scene.IsPrefab
        ? $"#{node.Number}"
        : IdIn(scene.Path, node.Number);

    private static string IdIn(string path, long number) =>
        $"{number}@{path.Aggregate(2166136261U, (hash, letter) => (hash ^ letter) * 16777619U):x8}";
}
