#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.Loader;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>MEMBERS.md says what of Unity is stubbed; what is stubbed is in MEMBERS.md, for each version.</summary>
public sealed class MembersTests
{
    private const BindingFlags Declared =
        BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.DeclaredOnly;

    /// <summary>Internal in Unity too: reached by reflection.</summary>
    private static readonly string[] Internals =
    [
        "UnityEditor.Build.Profile.BuildProfile.buildTarget",
        "UnityEditor.EditorApplication.SignalTick", "UnityEditor.EditorApplication.applicationScriptingPath",
        "UnityEditor.EditorWindow.RepaintImmediately", "UnityEditor.EditorWindow.m_Parent", "UnityEditor.GUIView.GrabPixels",
        "UnityEditor.PlayModeView.GetMainPlayModeView", "UnityEditor.PlayModeView.m_TargetTexture",
        "UnityEditor.LogEntries.Clear", "UnityEditor.LogEntries.EndGettingEntries", "UnityEditor.LogEntries.GetCount",
        "UnityEditor.LogEntries.GetEntryInternal", "UnityEditor.LogEntries.GetFilteringText",
        "UnityEditor.LogEntries.SetFilteringText", "UnityEditor.LogEntries.StartGettingEntries",
        "UnityEditor.LogEntries.consoleFlags", "UnityEditor.LogEntry.callstackTextStartUTF16", "UnityEditor.LogEntry.message",
        "UnityEditor.LogEntry.mode",
        "UnityEditor.TestTools.TestRunner.Api.TestRunnerApi.IsRunActive",
        "UnityEditor.TestTools.TestRunner.TestRun.TestJobData.guid",
        "UnityEditor.TestTools.TestRunner.TestRun.TestJobData.isRunning",
        "UnityEditor.TestTools.TestRunner.TestRun.TestJobDataHolder.TestRuns",
    ];

    private static readonly Version[] Sets = [new(2021, 3), new(2022, 3), new(6000, 0), new(6000, 3), new(6000, 5)];

    [Fact]
    public void The_list_and_the_stubs_are_the_same()
    {
        var rows = Rows();
        foreach (var set in Sets)
        {
            var listed = rows.Where(row => row.From <= set && (row.Until == null || row.Until >= set)).Select(row => row.Member);
            Assert.Equal(listed.Order(StringComparer.Ordinal), Stubbed(set).Order(StringComparer.Ordinal));
        }
    }

    [Fact]
    public void Every_row_has_its_page()
    {
        foreach (var row in Rows())
        {
            var isInternal = Internals.Contains(row.Member);
            Assert.True(isInternal ? row.Page == "internal" : row.Page.StartsWith("https://docs.unity3d.com/", StringComparison.Ordinal), row.Member);
        }
    }

    private static List<Row> Rows() => File.ReadAllLines(Path.Combine(Package.Folder, "DotNet~", "EditorStubs", "MEMBERS.md"))
        .Where(line => line.StartsWith("| `", StringComparison.Ordinal))
        .Select(line => line.Split('|').Select(cell => cell.Trim()).ToArray())
        .Select(cells => new Row(cells[1].Trim('`'), cells[2], From(cells[3]), Until(cells[3])))
        .ToList();

    /// <summary>
    /// 2019.4; 2021.3 to 2022.2 where the adapter asks for it no longer than that; a package's version is in every set
    /// that has it.
    /// </summary>
    private static Version From(string cell) =>
        cell.StartsWith("test-framework 1.4", StringComparison.Ordinal) ? new Version(6000, 0)
        : cell.StartsWith("test-framework", StringComparison.Ordinal) ? new Version(0, 0)
        : Version.Parse(cell.Split(' ')[0]);

    private static Version? Until(string cell) => cell.Contains(" to ") ? Version.Parse(cell.Split(" to ")[1]) : null;

    private static IEnumerable<string> Stubbed(Version set)
    {
        var name = $"EditorStubs.{set.Major}.{set.Minor}";
        var configuration = new DirectoryInfo(AppContext.BaseDirectory).Parent!.Name;
        var path = Path.Combine(
            Package.Folder, "DotNet~", "EditorStubs", "bin", name, configuration, "netstandard2.1", "UnityEditor.Stubs.dll");
        var stubs = new AssemblyLoadContext(name, true).LoadFromAssemblyPath(path);
        var members = stubs.GetTypes().Where(IsUnitys).SelectMany(Members);
        return members.Concat(Internals.Where(name => Has(stubs, name))).Distinct();
    }

    private static bool Has(Assembly stubs, string name)
    {
        var dot = name.LastIndexOf('.');
        return stubs.GetType(name[..dot])?.GetMember(name[(dot + 1)..], Declared | BindingFlags.NonPublic).Length > 0;
    }

    private static bool IsUnitys(Type type) =>
        (type.IsPublic || type.IsNestedPublic) && type.Namespace!.StartsWith("Unity", StringComparison.Ordinal);

    private static IEnumerable<string> Members(Type type)
    {
        var name = type.FullName!.Split('`')[0].Replace('+', '.');
        yield return name;
        if (type.IsEnum || typeof(Delegate).IsAssignableFrom(type)) yield break;
        foreach (var member in type.GetMembers(Declared))
        {
            if (member is Type or ConstructorInfo) continue;
            if (member is MethodInfo { IsSpecialName: true }) continue;
            if (member.Name is "Equals" or "GetHashCode") continue;
            yield return $"{name}.{member.Name}";
        }
    }

    private sealed record Row(string Member, string Page, Version From, Version? Until);
}
