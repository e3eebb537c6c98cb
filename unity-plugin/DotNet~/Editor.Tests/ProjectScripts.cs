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
