#nullable enable
using System;
using System.Collections.Generic;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Editor.Tests;

internal enum ScriptSpeed
{
    Slow,
    Fast,
}

/// <summary>Components of a project.</summary>
internal class Thing : MonoBehaviour
{
    public int Base = 3;
}

internal sealed class Mover : Thing
{
    public float Speed = 1.5f;
    public ScriptSpeed Kind = ScriptSpeed.Fast;
    public GameObject? Target = null;
}

/// <summary>What a script may serialize.</summary>
internal sealed class Stats
{
    public int Health = 10;
    public string Label = "";
}

internal sealed class Everything : MonoBehaviour
{
    public Vector2 Two = default;
    public Vector3 Three = default;
    public Vector4 Four = default;
    public Quaternion Turn = default;
    public Color Tint = default;
    public Rect Area = default;
    public Bounds Box = default;
    public Vector2Int Pair = default;
    public Vector3Int Cell = default;
    public Stats Stats = new();
    public Vector3[] Points = [];
    public Mover? Other = null;
    public ScriptableObject? Asset = null;
}

/// <summary>Menu items of a script.</summary>
internal static class Items
{
    public static List<string> Ran { get; } = [];

    [MenuItem("Tools/Bake %#b", priority = 50)]
    private static void Bake() => Ran.Add("bake");

    [MenuItem("Tools/With Command")]
    private static void WithCommand(MenuCommand command) => Ran.Add("command");

    [MenuItem("Tools/Throws")]
    private static void Throws() => throw new FormatException("bad");

    [MenuItem("Tools/Off")]
    private static void Off() => Ran.Add("off");

    [MenuItem("Tools/Off", true)]
    private static bool IsOn() => false;

    [MenuItem("Tools/Twice")]
    private static void Once() => Ran.Add("once");

    [MenuItem("Tools/Twice")]
    private static void Again() => Ran.Add("again");
}
