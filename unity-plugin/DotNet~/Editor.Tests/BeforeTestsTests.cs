#nullable enable
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEditor.Compilation;
using UnityEngine;
using Xunit;
using CompilerMessage = UnityEditor.Compilation.CompilerMessage;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>What is asked of Unity before tests run: unsaved scenes, the compiler's errors, what it is busy with.</summary>
public sealed class BeforeTestsTests
{
    private readonly StubbedEditor editor = new();

    [Fact]
    public void Unsaved_are_scenes_with_changes_also_untitled_ones_and_the_prefab_in_Prefab_Mode()
    {
        var tests = Tests();
        Assert.Empty(tests.UnsavedScenes());
        Dirty("Level", "Assets/Level.unity");
        Dirty("Untitled", "");
        StubEditor.Scenes.Add(new StubScene("Clean", ""));
        StubEditor.PrefabInStage = new StubScene("Hero", "Assets/Hero.prefab") { IsDirty = true };
        Assert.Equal(
            ["Level Assets/Level.unity False", "Untitled  False", "Hero Assets/Hero.prefab True"],
            tests.UnsavedScenes().Select(scene => $"{scene.Name} {scene.Path} {scene.IsPrefab}"));
    }

    [Fact]
    public void Saving_opens_no_dialog_and_tells_what_could_not_be_saved()
    {
        var tests = Tests();
        Dirty("Level", "Assets/Level.unity");
        Dirty("Locked", "Assets/Locked.unity");
        Dirty("Broken", "Assets/Broken.unity").CannotBeSaved = true;
        Dirty("Untitled", "");
        var locked = Path.Combine(editor.Project, "Assets", "Locked.unity");
        Directory.CreateDirectory(Path.GetDirectoryName(locked)!);
        File.WriteAllText(locked, "a scene");
        File.SetAttributes(locked, FileAttributes.ReadOnly);

        Assert.Equal(["Locked", "Broken", "Untitled"], tests.SaveScenes(tests.UnsavedScenes()).Select(scene => scene.Name));
        Assert.Equal(["Locked", "Broken", "Untitled"], StubEditor.Scenes.Where(scene => scene.IsDirty).Select(scene => scene.Name));
        Assert.Equal(0, StubEditor.SaveDialogs);
        File.SetAttributes(locked, FileAttributes.Normal);
    }

    [Fact]
    public void The_compilers_errors_are_those_of_the_last_compilation_whoever_asked_for_it()
    {
        using var compiler = new UnityCompiler(editor.Clock);
        Assert.Empty(compiler.Errors());
        StubEditor.HasCompileErrors = true;
        CompilationPipeline.Run(
            new CompilerMessage { type = CompilerMessageType.Error, message = "Assets/A.cs(3,5): error CS1002: ; expected", file = "Assets/A.cs", line = 3, column = 5 },
            new CompilerMessage { type = CompilerMessageType.Warning, message = "unused" });
        var error = Assert.Single(compiler.Errors());
        Assert.Equal(("Assets/A.cs", 3, "Assets/A.cs(3,5): error CS1002: ; expected"), (error.File, error.Line, error.Message));
        // The tool that finds nothing to compile does not take them away.
        _ = compiler.CompileAsync(false, default);
        Assert.Single(compiler.Errors());
        StubEditor.HasCompileErrors = false;
        Assert.Empty(compiler.Errors());
    }

    [Fact]
    public void Errors_from_before_this_script_domain_are_read_from_the_Console()
    {
        using var compiler = new UnityCompiler(editor.Clock);
        StubEditor.HasCompileErrors = true;
        StubEditor.Write("not of the compiler: error CS1: x", "", LogType.Error);
        StubEditor.ConsoleEntries.Add(("Assets/A.cs(3,5): error CS1002: ; expected", "", 1 << 11));
        var error = Assert.Single(compiler.Errors());
        Assert.Equal(("Assets/A.cs", 3, 5, "CS1002: ; expected"), (error.File, error.Line, error.Column, error.Message));

        StubEditor.HidesConsole = true;
        Assert.Empty(compiler.Errors());
    }

    [Fact]
    public void What_Unity_is_busy_with_is_what_it_says_now_not_at_the_last_tick()
    {
        var testing = false;
        IEditorInfo info = new UnityEditorInfo(new UnitySettings(), () => testing);
        ((UnityEditorInfo)info).Refresh();
        Assert.Equal("ready", info.Phase);
        StubEditor.IsCompiling = true;
        Assert.Equal("compiling", info.Phase);
        StubEditor.IsCompiling = false;
        StubEditor.IsImporting = true;
        Assert.Equal("importing", info.Phase);
        StubEditor.IsImporting = false;
        StubEditor.IsChangingPlayMode = true;
        Assert.Equal("changing_play_mode", info.Phase);
        EditorApplication.isPlaying = true;
        Assert.Equal("changing_play_mode", info.Phase);
        StubEditor.IsChangingPlayMode = false;
        Assert.Equal("playing", info.Phase);
        testing = true;
        Assert.Equal("testing", info.Phase);
    }

    [Fact]
    public void What_waits_for_the_end_of_play_mode_keeps_nobody_from_ending_it()
    {
        IEditorInfo info = new UnityEditorInfo(new UnitySettings(), () => false);
        using var compiler = new UnityCompiler(editor.Clock);
        StubEditor.IsCompiling = true;
        EditorApplication.isPlaying = true;
        Assert.Equal("compiling", info.Phase);
        StubEditor.Preferences["ScriptCompilationDuringPlay"] = 1;
        Assert.Equal("playing", info.Phase);
        var refused = Assert.Throws<ToolException>(() => { _ = compiler.CompileAsync(false, default); });
        Assert.Equal("editor_is_playing", refused.Type);
        Assert.Empty(StubEditor.CompilationRequests);
        EditorApplication.isPlaying = false;
        Assert.Equal("compiling", info.Phase);
    }

    private static StubScene Dirty(string name, string path)
    {
        var scene = new StubScene(name, path) { IsDirty = true };
        StubEditor.Scenes.Add(scene);
        return scene;
    }

    private UnityTests Tests() => new(new UnitySessionStore(), editor.Clock, editor.Project);
}
