using System.Collections.Generic;
using System.Linq;

namespace JobBroker.EditorHost.Native.Scenes;

/// <summary>What a property refers to: an object of a scene by its number, or an asset.</summary>
public sealed record NodeReference(long? Node, string? Asset, string Type);

/// <summary>A serialized property: a value, or properties below it.</summary>
public sealed class NodeProperty(string name, string type, string kind)
{
    public string Name { get; } = name;

    public string Type { get; } = type;

    /// <summary>Group, List, Integer, Number, Flag, Text, Choice, Vector, Color, Reference or Other.</summary>
    public string Kind { get; } = kind;

    public object? Value { get; set; }

    public IReadOnlyList<string> Words { get; init; } = [];

    /// <summary>What is below a group, or the elements of a list.</summary>
    public List<NodeProperty> Children { get; private set; } = [];

    /// <summary>What a new element of a list is like.</summary>
    public NodeProperty? Element { get; init; }

    public NodeProperty With(params NodeProperty[] children)
    {
        Children.AddRange(children);
        return this;
    }

    public NodeProperty Clone() => new(Name, Type, Kind)
    {
        Value = Value,
        Words = Words,
        Element = Element,
        Children = Children.Select(child => child.Clone()).ToList(),
    };
}

/// <summary>A component; its properties are made when they are asked for.</summary>
public sealed class NodeComponent(string type)
{
    private List<NodeProperty>? properties;

    public string Type { get; } = type;

    public List<NodeProperty> Properties => properties ??= ComponentCatalogue.PropertiesOf(Type);

    public NodeComponent Clone() => new(Type) { properties = properties?.Select(one => one.Clone()).ToList() };
}

/// <summary>An object of a scene. The numbers of its copies in a step of Undo are its own: it is the same object.</summary>
public sealed class SceneNode(long number, string name)
{
    public long Number { get; private set; } = number;

    public string Name { get; set; } = name;

    public bool IsActive { get; set; } = true;

    public string Tag { get; set; } = "Untagged";

    public int Layer { get; set; }

    public SceneNode? Parent { get; private set; }

    public List<SceneNode> Children { get; } = [];

    public List<NodeComponent> Components { get; private set; } = [];

    public NodeComponent Transform => Components[0];

    public string Path => Parent == null ? Name : Parent.Path + "/" + Name;

    public bool IsActiveInHierarchy => IsActive && (Parent?.IsActiveInHierarchy ?? true);

    public SceneNode Root => Parent?.Root ?? this;

    public IEnumerable<SceneNode> All => Children.SelectMany(child => child.All).Prepend(this);

    /// <summary>Position, rotation or scale, relative to the parent.</summary>
    public double[] Local(string name)
    {
        var property = Transform.Properties.First(one => one.Name == name);
        return (double[])property.Value!;
    }

    public void SetLocal(string name, double[] value) => Transform.Properties.First(one => one.Name == name).Value = value;

    public void Attach(SceneNode? parent)
    {
        Parent?.Children.Remove(this);
        Parent = parent;
        parent?.Children.Add(this);
    }

    public SceneNode Clone()
    {
        var copy = new SceneNode(Number, Name)
        {
            IsActive = IsActive,
            Tag = Tag,
            Layer = Layer,
            Components = Components.Select(one => one.Clone()).ToList(),
        };
        foreach (var child in Children) child.Clone().Attach(copy);
        return copy;
    }

    /// <summary>Another object like this one.</summary>
    public SceneNode Instance(System.Func<long> numbers)
    {
        var copy = Clone();
        foreach (var one in copy.All) one.Number = numbers();
        return copy;
    }
}
