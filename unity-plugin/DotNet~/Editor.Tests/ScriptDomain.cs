#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>
/// One script domain: adapter, Core and stubs loaded anew, so that static constructors run as after a domain reload.
/// What survives a reload in Unity (the session store) is handed to the next domain.
/// </summary>
internal sealed class ScriptDomain
{
    private const BindingFlags Anything = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    private readonly Assembly adapter;
    private readonly Type stub;

    public ScriptDomain(string project, ScriptDomain? before = null)
    {
        var context = new AssemblyLoadContext("script domain", true);
        var folder = AppContext.BaseDirectory;
        context.LoadFromAssemblyPath(Path.Combine(folder, "JobBroker.Bridge.Core.dll"));
        stub = context.LoadFromAssemblyPath(Path.Combine(folder, "UnityEditor.Stubs.dll")).GetType("JobBroker.EditorStubs.StubEditor")!;
        adapter = context.LoadFromAssemblyPath(Path.Combine(folder, "JobBroker.Bridge.Editor.dll"));
        Set("DataPath", Path.Combine(project, "Assets"));
        foreach (var (key, value) in before?.Session ?? []) Session[key] = value;
    }

    public Dictionary<string, string> Session => (Dictionary<string, string>)Get("Session")!;

    public List<string> Console => (List<string>)Get("Console")!;

    public string Clipboard => (string)Editor("UnityEditor.EditorGUIUtility").GetProperty("systemCopyBuffer")!.GetValue(null)!;

    /// <summary>How often it was woken.</summary>
    public int Ticks => (int)stub.GetField("Ticks")!.GetValue(null)!;

    public int BeforeReloadListeners => (int)Get("BeforeReloadListeners")!;

    /// <summary>How many ask for the Editor's ticks.</summary>
    public int UpdateListeners
    {
        get
        {
            var update = (Delegate?)Editor("UnityEditor.EditorApplication").GetField("update")!.GetValue(null);
            return update?.GetInvocationList().Length ?? 0;
        }
    }

    /// <summary>The bridge's status; null where no bridge runs.</summary>
    public object? Status => Controller?.GetType().GetMethod("Status")!.Invoke(Controller, null);

    private object? Controller
    {
        get
        {
            var bridge = Bootstrap.GetProperty("Bridge", Anything)!.GetValue(null);
            return bridge?.GetType().GetProperty("Controller")!.GetValue(bridge);
        }
    }

    public int Port => (int?)Status?.GetType().GetProperty("Port")!.GetValue(Status) ?? 0;

    public bool IsListening => (bool?)Status?.GetType().GetProperty("Running")!.GetValue(Status) ?? false;

    private Type Bootstrap => adapter.GetType("JobBroker.Bridge.Unity.EditorBootstrap")!;

    public void Set(string property, object? value) => stub.GetProperty(property)!.SetValue(null, value);

    /// <summary>What Unity does for [InitializeOnLoad].</summary>
    public void Load() => RuntimeHelpers.RunClassConstructor(Bootstrap.TypeHandle);

    public void Raise(string what) => stub.GetMethod("Raise" + what)!.Invoke(null, null);

    /// <summary>As a worker that has proven itself notifies <c>bridge/clients</c>.</summary>
    public void Report(JObject clients)
    {
        var runtime = Controller!.GetType().GetField("runtime", Anything)!.GetValue(Controller)!;
        var session = runtime.GetType().GetProperty("Session")!.GetValue(runtime)!;
        var reported = session.GetType().GetProperty("McpClients")!.GetValue(session)!;
        reported.GetType().GetMethod("Take")!.Invoke(reported, [1, clients]);
    }

    /// <summary>The next pass of the window finds this text in the field of a label.</summary>
    public void Type(string label, string text)
    {
        var types = (Dictionary<string, string>)Editor("UnityEngine.StubGui").GetProperty("Types", Anything)!.GetValue(null)!;
        types[label] = text;
        Draw();
        types.Remove(label);
    }

    /// <summary>What the window draws in a pass in which everything with this text is clicked.</summary>
    public IReadOnlyList<string> Click(string text)
    {
        var click = Editor("UnityEngine.StubGui").GetProperty("Click", Anything)!;
        click.SetValue(null, text);
        var drawn = Draw();
        click.SetValue(null, null);
        return drawn;
    }

    /// <summary>What the window draws in one pass.</summary>
    public IReadOnlyList<string> Draw()
    {
        var window = Activator.CreateInstance(adapter.GetType("JobBroker.Bridge.Unity.McpEditorWindow")!)!;
        var drawn = (List<string>)Editor("UnityEngine.StubGui").GetProperty("Drawn", Anything)!.GetValue(null)!;
        drawn.Clear();
        window.GetType().GetMethod("OnGUI", Anything)!.Invoke(window, null);
        return drawn.ToList();
    }

    private object? Get(string property) => stub.GetProperty(property)!.GetValue(null);

    private Type Editor(string name) => stub.Assembly.GetType(name)!;
}
