using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.EditorHost.Native.Scenes;

/// <summary>The component types of the stand-in, with their properties as Unity serializes them; Mover and its namesake are scripts.</summary>
public static class ComponentCatalogue
{
    /// <summary>Full names.</summary>
    public static readonly IReadOnlyList<string> Types =
    [
        "UnityEngine.Transform", "UnityEngine.Camera", "UnityEngine.Light", "UnityEngine.MeshFilter",
        "UnityEngine.MeshRenderer", "UnityEngine.BoxCollider", "UnityEngine.Rigidbody", "Mover", "Game.Marker", "Tools.Marker",
    ];

    public static string FullName(string type) => Types.First(one => one == type || one.EndsWith("." + type, StringComparison.Ordinal));

    public static List<NodeProperty> PropertiesOf(string type) => type switch
    {
        "Transform" =>
        [
            Vector("m_LocalRotation", 0, 0, 0, 1), Vector("m_LocalPosition", 0, 0, 0), Vector("m_LocalScale", 1, 1, 1),
        ],
        "Camera" => [Flag("m_Enabled", true), Color("m_BackGroundColor", 0.19, 0.3, 0.47, 0), Number("field of view", 60)],
        "Light" =>
        [
            Flag("m_Enabled", true), Choice("m_Type", "Directional", "Spot", "Directional", "Point"), Color("m_Color", 1, 1, 1, 1),
            Number("m_Intensity", 1),
        ],
        "MeshFilter" => [Reference("m_Mesh", "Mesh")],
        "MeshRenderer" => [Flag("m_Enabled", true), List("m_Materials", Reference("data", "Material"))],
        "BoxCollider" => [Flag("m_Enabled", true), Flag("m_IsTrigger", false), Vector("m_Size", 1, 1, 1), Vector("m_Center", 0, 0, 0)],
        "Rigidbody" => [Number("m_Mass", 1), Flag("m_UseGravity", true)],
        "Mover" =>
        [
            Flag("m_Enabled", true), Number("speed", 1.5), Choice("kind", "Slow", "Slow", "Fast"), Reference("target", "Transform"),
            new NodeProperty("stats", "Stats", "Group").With(
                new NodeProperty("health", "int", "Integer") { Value = 10L },
                new NodeProperty("label", "string", "Text") { Value = "" }),
            List("points", Vector("data", 0, 0, 0)), new NodeProperty("curve", "AnimationCurve", "Other"),
        ],
        _ => [Flag("m_Enabled", true)],
    };

    private static NodeProperty Flag(string name, bool value) => new(name, "bool", "Flag") { Value = value };

    private static NodeProperty Number(string name, double value) => new(name, "float", "Number") { Value = value };

    private static NodeProperty Vector(string name, params double[] value) =>
        new(name, value.Length == 3 ? "Vector3" : "Quaternion", "Vector") { Value = value };

    private static NodeProperty Color(string name, params double[] value) => new(name, "Color", "Color") { Value = value };

    private static NodeProperty Choice(string name, string value, params string[] words) =>
        new(name, "Enum", "Choice") { Value = value, Words = words };

    private static NodeProperty Reference(string name, string type) => new(name, $"PPtr<{type}>", "Reference");

    private static NodeProperty List(string name, NodeProperty element) => new(name, "vector", "List") { Element = element };
}
