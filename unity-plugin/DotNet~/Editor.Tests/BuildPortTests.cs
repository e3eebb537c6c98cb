#nullable enable
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEditor.Build.Reporting;
using UnityEditor.Compilation;
using UnityEngine;
using UnityEngine.SceneManagement;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>The adapter's ports for compilations and builds, against the stubs' Editor.</summary>
public sealed class BuildPortTests
{
    private readonly StubbedEditor editor = new();

    [Fact]
    public async Task A_compilation_tells_its_messages_before_the_reload()
    {
        using var compiler = new UnityCompiler(editor.Clock);
        var outcome = compiler.CompileAsync(true, default);
        Assert.Equal(["CleanBuildCache"], StubEditor.CompilationRequests);
        Assert.Equal(1, StubEditor.Refreshes);
        CompilationPipeline.Run(new UnityEditor.Compilation.CompilerMessage
        {
            type = CompilerMessageType.Error, message = "CS1", file = "A.cs", line = 3, column = 4,
        });

        Assert.True(outcome.IsCompleted);
        var message = Assert.Single((await outcome).Messages);
        Assert.Equal((true, "CS1", "A.cs", 3, 4), (message.IsError, message.Message, message.File, message.Line, message.Column));
    }

    [Fact]
    public async Task A_compilation_of_nothing_ends_by_itself()
    {
        using var compiler = new UnityCompiler(editor.Clock);
        var outcome = compiler.CompileAsync(false, default);
        StubEditor.IsCompiling = true;
        editor.Clock.ElapsedMs += 60_000;
        compiler.Tick();
        StubEditor.IsCompiling = false;
        editor.Clock.ElapsedMs += 5_000;
        for (var tick = 0; tick < 3; tick++) compiler.Tick();
        Assert.True(outcome.IsCompleted);
        Assert.False((await outcome).Compiled);
    }

    [Fact]
    public async Task A_refresh_looks_at_the_disk_and_tells_of_the_compilation_that_follows()
    {
        using var compiler = new UnityCompiler(editor.Clock);
        Assert.Null(compiler.RefreshAsync());
        StubEditor.IsCompiling = true;
        var outcome = compiler.RefreshAsync();
        Assert.Equal(2, StubEditor.Refreshes);
        Assert.Empty(StubEditor.CompilationRequests);
        CompilationPipeline.Run();
        Assert.True((await outcome!).ReloadFollows);
    }

    [Fact]
    public void A_build_tells_its_steps_and_only_its_report_is_believed()
    {
        var steps = new List<string>();
        var blocked = false;
        BuildPlayerOptions asked = default;
        StubProject.ActiveSubtarget = 3;
        StubEditor.Build = options =>
        {
            Assert.True(blocked);
            asked = options;
            var hooks = new BuildHooks();
            hooks.OnPreprocessBuild(null!);
            hooks.OnProcessScene(SceneManager.GetSceneAt(0), new BuildReport());
            hooks.OnPostBuildPlayerScriptDLLs(null!);
            new BuildEndHook().OnPostprocessBuild(null!);
            return Report(BuildResult.Failed);
        };

        var outcome = new UnityBuilds(() => blocked = true).Build(
            new BuildRequest("android", "/out/game.apk", true, []), (step, fraction) => steps.Add($"{step} {fraction}"));

        Assert.Equal(
            ["The build begins 0", "Scene Assets/Main.unity -1", "The scripts are compiled -1", "The player is written -1"], steps);
        Assert.Equal(BuildTarget.Android, asked.target);
        Assert.Equal(3, asked.subtarget);
        Assert.Equal(BuildOptions.Development, asked.options);
        Assert.Equal(["Assets/Main.unity"], asked.scenes);
        Assert.False(outcome.Succeeded);
        Assert.Equal("Failed", outcome.Summary);
        Assert.Equal(["no keystore", "Warning: old"], outcome.Messages);
        Assert.Equal("/out/game.apk 7 Player", string.Join(", ", outcome.Files.Select(file => $"{file.Path} {file.Bytes} {file.Role}")));

        new BuildHooks().OnProcessScene(default(Scene), null!);
        new BuildHooks().OnPreprocessBuild(null!);
        Assert.Equal(4, steps.Count);
    }

    [Fact]
    public void Only_platforms_with_build_support_are_told()
    {
        var builds = new UnityBuilds(() => { });
        Assert.Equal("StandaloneLinux64", builds.ActiveTarget);
        Assert.Equal(["Android", "StandaloneLinux64"], builds.SupportedTargets);
    }

    [Fact]
    public void The_settings_of_Android_say_what_a_player_is()
    {
        var builds = new UnityBuilds(() => { });
        EditorUserBuildSettings.buildAppBundle = true;
        Assert.Null(builds.PlayerExtension);
        StubProject.ActiveTarget = BuildTarget.Android;
        Assert.Equal(".aab", builds.PlayerExtension);
        EditorUserBuildSettings.exportAsGoogleAndroidProject = true;
        Assert.Equal("", builds.PlayerExtension);
        EditorUserBuildSettings.buildAppBundle = EditorUserBuildSettings.exportAsGoogleAndroidProject = false;
        Assert.Null(builds.PlayerExtension);
    }

    private static BuildReport Report(BuildResult result) => new()
    {
        built = [new BuildFile { path = "/out/game.apk", role = "Player", size = 7 }],
        summary = new BuildSummary { result = result, outputPath = "/out/game.apk", totalErrors = 1, totalWarnings = 1 },
        steps =
        [
            new BuildStep
            {
                messages =
                [
                    new BuildStepMessage { type = LogType.Log, content = "fine" },
                    new BuildStepMessage { type = LogType.Warning, content = "old" },
                    new BuildStepMessage { type = LogType.Error, content = "no keystore" },
                ],
            },
        ],
    };
}
