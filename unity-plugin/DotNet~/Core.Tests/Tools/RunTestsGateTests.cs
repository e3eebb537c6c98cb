#nullable enable
using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>What keeps run-tests from beginning, and that nothing has been run then.</summary>
public sealed class RunTestsGateTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    [Fact]
    public async Task Unsaved_scenes_are_named_before_Unity_can_ask_about_them()
    {
        editor.Tests.Unsaved.Add(new UnsavedScene("Level", "Assets/Level.unity"));
        editor.Tests.Unsaved.Add(new UnsavedScene("Untitled", ""));
        editor.Tests.Unsaved.Add(new UnsavedScene("Hero", "Assets/Hero.prefab", true));
        var message = await Refused("unsaved_scenes");
        Assert.StartsWith("Unsaved changes in Assets/Level.unity, the untitled scene \"Untitled\", Assets/Hero.prefab: Unity would ask", message);
        Assert.Contains("UnsavedScenes: save", message);
        Assert.Contains("saved under a name", message);
        Assert.Contains("Prefab Mode", message);
        Assert.Empty(editor.Tests.Saved);
    }

    [Fact]
    public async Task Saving_scenes_wants_the_switch_of_scenes_too()
    {
        editor.Tests.Unsaved.Add(new UnsavedScene("Level", "Assets/Level.unity"));
        editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.TestExecution);
        Assert.Equal(
            "run-tests with UnsavedScenes: save is blocked: switch on \"Allow Scene Editing\" in Unity under "
            + "Window > Unity Job Broker, section Security (or save-scene alone, section Tools).",
            await Refused("security_blocked", new { UnsavedScenes = "save" }));
        Assert.Empty(editor.Tests.Saved);
    }

    [Fact]
    public async Task Who_denies_save_scene_by_its_name_denies_saving_here_too()
    {
        editor.Tests.Unsaved.Add(new UnsavedScene("Level", "Assets/Level.unity"));
        editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.TestExecution, SecuritySetting.SceneEditing) with
        {
            Choices = ToolChoices.Of(["-save-scene"]),
        };
        Assert.Equal(
            "run-tests with UnsavedScenes: save is blocked: it does what save-scene does, and that is denied by its name; switch save-scene "
            + "on in Unity under Window > Unity Job Broker, section Tools.",
            await Refused("security_blocked", new { UnsavedScenes = "save" }));
        editor.Security.Current = editor.Security.Current with { IsBatch = true };
        Assert.Contains("take -save-scene out of -brokerAllow", await Refused("security_blocked", new { UnsavedScenes = "save" }));
        Assert.Empty(editor.Tests.Saved);
    }

    [Fact]
    public void Who_allows_save_scene_alone_allows_saving_here_too()
    {
        editor.Tests.Unsaved.Add(new UnsavedScene("Level", "Assets/Level.unity"));
        editor.Security.Current = new SecuritySnapshot { Choices = ToolChoices.Of(["save-scene"]) };
        _ = new ToolCall().Run(new TickingTool(new RunTestsTool(editor.Services), editor), new { UnsavedScenes = "save" });
        Assert.Equal(["Level"], editor.Tests.Saved.Select(scene => scene.Name));
        Assert.Single(editor.Tests.Begun);
    }

    [Fact]
    public async Task Saved_where_the_call_says_so_the_tests_run()
    {
        editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.SceneEditing);
        editor.Tests.Unsaved.Add(new UnsavedScene("Level", "Assets/Level.unity"));
        var running = new ToolCall().Run(new TickingTool(new RunTestsTool(editor.Services), editor), new { UnsavedScenes = "save" });
        Assert.Equal(["Level"], editor.Tests.Saved.Select(scene => scene.Name));
        editor.Tests.Start(1);
        editor.Tests.Finish("G.One");
        editor.Tests.End();
        Assert.True((bool)(await running)["Success"]!);
    }

    [Fact]
    public async Task One_that_cannot_be_saved_keeps_all_as_they_are()
    {
        editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.SceneEditing);
        editor.Tests.Unsaved.Add(new UnsavedScene("Level", "Assets/Level.unity"));
        editor.Tests.Unsaved.Add(new UnsavedScene("Untitled", ""));
        var message = await Refused("unsaved_scenes", new { UnsavedScenes = "save" });
        Assert.StartsWith("Unsaved changes in the untitled scene \"Untitled\": ", message);
        Assert.DoesNotContain("UnsavedScenes: save", message);
        Assert.Empty(editor.Tests.Saved);

        editor.Tests.Unsaved.RemoveAt(1);
        editor.Tests.Unsavable.Add("Level");
        Assert.StartsWith("Assets/Level.unity could not be saved", await Refused("unsaved_scenes", new { UnsavedScenes = "save" }));
    }

    [Fact]
    public async Task Scripts_that_do_not_compile_are_told_with_their_places()
    {
        editor.Info.Phase = "compile_errors";
        editor.Compiler.LastErrors.Add(new CompilerMessage(true, "Assets/A.cs(3,5): error CS1002: ; expected", "Assets/A.cs", 3, 5));
        editor.Compiler.LastErrors.Add(new CompilerMessage(true, "CS0103: no such name\nmore", "Assets/B.cs", 7, 1));
        var lines = (await Refused("compile_errors")).Split('\n');
        Assert.Equal("The scripts do not compile (2 errors). Correct them, then call run-tests again.", lines[0]);
        Assert.Equal(["Assets/A.cs(3,5): error CS1002: ; expected", "Assets/B.cs(7,1): CS0103: no such name"], lines[1..]);
    }

    [Fact]
    public async Task Of_many_errors_the_first_are_told_and_of_a_long_one_its_beginning()
    {
        editor.Info.Phase = "compile_errors";
        Assert.Contains("ForceRecompile", await Refused("compile_errors"));
        for (var at = 0; at < 1000; at++) editor.Compiler.LastErrors.Add(new CompilerMessage(true, new string('x', 1000), "", 0, 0));
        var message = await Refused("compile_errors");
        Assert.InRange(message.Length, 6000, 7000);
        Assert.EndsWith("… and 980 more.", message);
    }

    [Fact]
    public async Task In_play_mode_it_says_what_to_leave()
    {
        editor.Info.Phase = "playing";
        Assert.Contains("Leave play mode", await Refused("editor_is_playing"));
    }

    private async Task<string> Refused(string type, object? arguments = null)
    {
        var running = new ToolCall().Run(new TickingTool(new RunTestsTool(editor.Services), editor), arguments);
        Assert.Empty(editor.Tests.Begun);
        var error = await Assert.ThrowsAsync<ToolException>(() => running);
        Assert.Equal(type, error.Type);
        return error.Message;
    }
}
