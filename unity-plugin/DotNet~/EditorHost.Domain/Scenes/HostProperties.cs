using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.EditorHost.Native.Scenes;

namespace JobBroker.EditorHost.Domain.Scenes;

/// <summary>One component's properties: a copy of them, which takes their place when it is applied.</summary>
internal sealed class HostProperties : IPropertyEditing
{
    private const string SizeEnd = ".Array.size";

    private readonly NodeComponent component;
    private readonly SceneWorld world;
    private readonly HostScenes scenes;
    private readonly Action changed;
    private readonly NodeProperty copy;

    public HostProperties(NodeComponent component, SceneWorld world, HostScenes scenes, Action changed)
    {
        this.component = component;
        this.world = world;
        this.scenes = scenes;
        this.changed = changed;
        copy = new NodeProperty("", component.Type, "Group").With(component.Properties.Select(one => one.Clone()).ToArray());
    }

    public IReadOnlyList<string> Names(string path) => At(path) is { Kind: "Group" } group ? group.Children.Select(one => one.Name).ToList() : [];

    public SerializedValue? Find(string path)
    {
        if (ListOfSize(path) is { } list) return new SerializedValue(path, "ArraySize", PropertyKind.Integer, (long)list.Children.Count);
        var one = At(path);
        if (one == null) return null;
        var size = one.Kind == "List" ? one.Children.Count : (one.Value as double[])?.Length ?? 0;
        return new SerializedValue(path, one.Type, (PropertyKind)Enum.Parse(typeof(PropertyKind), one.Kind), ValueOf(one), size, one.Words);
    }

    public void Set(string path, object? value)
    {
        if (ListOfSize(path) != null)
        {
            Resize(path[..^SizeEnd.Length], (int)(long)value!);
            return;
        }
        var one = At(path)!;
        one.Value = value is ObjectReference reference ? ReferenceFor(one, reference) : value;
    }

    public void Resize(string path, int size)
    {
        var list = At(path)!;
        while (list.Children.Count > size) list.Children.RemoveAt(list.Children.Count - 1);
        while (list.Children.Count < size) list.Children.Add(list.Children.LastOrDefault()?.Clone() ?? list.Element!.Clone());
    }

    public void Apply()
    {
        component.Properties.Clear();
        component.Properties.AddRange(copy.Children.Select(one => one.Clone()));
        changed();
    }

    public void Dispose()
    {
    }

    private NodeProperty? ListOfSize(string path) =>
        path.EndsWith(SizeEnd, StringComparison.Ordinal) && At(path[..^SizeEnd.Length]) is { Kind: "List" } list ? list : null;

    private NodeProperty? At(string path)
    {
        NodeProperty? at = copy;
        foreach (var part in path.Replace(".Array.data[", ".[").Split(new[] { '.' }, StringSplitOptions.RemoveEmptyEntries))
        {
            if (part == "Array" && at?.Kind == "List") continue;
            if (part[0] != '[') at = at?.Children.Find(one => one.Name == part && at.Kind == "Group");
            else at = at?.Kind == "List" ? at.Children.ElementAtOrDefault(int.Parse(part.Trim('[', ']'), CultureInfo.InvariantCulture)) : null;
        }
        return at;
    }

    private object? ValueOf(NodeProperty one)
    {
        if (one.Value is not NodeReference reference) return one.Value;
        if (reference.Node == null) return new ObjectReference(null, reference.Asset, reference.Type);
        var node = world.Find(reference.Node.Value);
        return node == null ? null : new ObjectReference(scenes.Read(node), null, reference.Type);
    }

    private NodeReference ReferenceFor(NodeProperty one, ObjectReference wanted)
    {
        var type = one.Type.Split('<', '>')[1];
        if (wanted.InScene == null) return new NodeReference(null, wanted.Asset, type);
        if (wanted.InScene.Components.Contains(type)) return new NodeReference((long)wanted.InScene.Handle!, null, type);
        throw new ToolException("reference_refused", $"{one.Name} wants a {type}, and {wanted.InScene.Name} has none.");
    }
}
