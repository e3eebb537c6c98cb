using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools.BuiltIn;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class BuildPlayerToolTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    private BuildPlayerTool Tool => new(editor.Services);

    [Fact]
    public async Task A_build_is_told_step_by_step_and_ends_with_unitys_report()
    {
        editor.Builds.Steps.AddRange(new[] { ("Prepare", 0.1), ("Scripts", -1.0), ("Scripts", -1.0), ("Scenes", 0.05), ("Pack", 2.0) });
        var call = new ToolCall();
        var answer = await call.Run(Tool, new { buildTarget = "standalonelinux64", Development = true, Scenes = new[] { "A.unity" } });

        var request = Assert.Single(editor.Builds.Built);
        Assert.Equal("StandaloneLinux64", request.Target);
        Assert.True(request.Development);
        Assert.Equal(new[] { "A.unity" }, request.Scenes);
        Assert.Equal(
            Path.Combine(editor.Info.ProjectPath, "Builds", "StandaloneLinux64", "Game.x86_64"),
            request.OutputPath);
        Assert.True((bool)answer["Success"]!);
        Assert.Equal(request.OutputPath, (string?)answer["OutputPath"]);
        Assert.Equal(1, (int)answer["TotalWarnings"]!);
        Assert.Equal(2.5, (double)answer["TotalSeconds"]!);
        var reported = call.Reports.Select(report => report.Progress).ToList();
        Assert.Equal(reported.OrderBy(progress => progress), reported);
        Assert.Equal(100, reported[^1]);
        Assert.Equal("Pack", (string?)call.LastPartial!["phase"]);
        Assert.Equal(
            new[] { "Prepare", "Scripts", "Scenes", "Pack" },
            call.LastPartial!["steps"]!.ToObject<string[]>());
    }

    [Fact]
    public async Task Another_target_is_refused_before_anything_is_built()
    {
        var other = await ToolCall.Fails(Tool, new { BuildTarget = "Android" });
        Assert.Equal("wrong_build_target", other.Type);
        Assert.Contains("Switch it first", other.Message);
        var unknown = await ToolCall.Fails(Tool, new { BuildTarget = "Dreamcast" });
        Assert.Equal("unsupported_build_target", unknown.Type);
        Assert.Contains("It can build for StandaloneLinux64, Android", unknown.Message);
        Assert.Equal("BuildTarget is missing.", (await ToolCall.Fails(Tool)).Message);
        Assert.Empty(editor.Builds.Built);
    }

    [Fact]
    public async Task A_failed_build_is_a_failure_with_its_messages()
    {
        editor.Builds.Steps.Add(("Pack", 1));
        var messages = Enumerable.Range(1, 25).Select(number => $"error {number}").ToArray();
        editor.Builds.Outcome = _ => new BuildOutcome(false, "Failed", "", 0, 1, 25, 0, messages);
        var error = await ToolCall.Fails(Tool, new { BuildTarget = "StandaloneLinux64" });
        Assert.Equal("build_failed", error.Type);
        Assert.StartsWith("The build failed with 25 errors (Unity: Failed).\nerror 1\n", error.Message);
        Assert.EndsWith("error 20\nand 5 more; get-logs has them.", error.Message);
        editor.Builds.Outcome = _ => new BuildOutcome(false, "Cancelled", "", 0, 1, 0, 0, messages);
        Assert.Equal("build_cancelled", (await ToolCall.Fails(Tool, new { BuildTarget = "StandaloneLinux64" })).Type);
    }

    [Fact]
    public async Task The_files_of_the_player_are_listed_where_they_are_asked_for()
    {
        var folder = Path.Combine(editor.Info.ProjectPath, "Builds", "StandaloneLinux64");
        Directory.CreateDirectory(Path.Combine(folder, "Game_Data"));
        File.WriteAllText(Path.Combine(folder, "Game_Data", "level0"), "level");
        File.WriteAllText(Path.Combine(folder, "Game.x86_64"), "player");
        editor.Builds.Outcome = request => new BuildOutcome(
            true, "Succeeded", request.OutputPath, 1, 1, 0, 0, Array.Empty<string>(),
            [
                new BuiltFile("Builds/StandaloneLinux64/Game_Data/level0", 99, "Scene"),
                new BuiltFile("Builds/StandaloneLinux64/Game_Data/gone", 3, "Resources"),
                new BuiltFile("Builds/StandaloneLinux64/../../Temp/StagingArea/level0", 5, "Scene"),
                new BuiltFile("Builds/StandaloneLinux64.txt", 5, "Other"),
            ]);
        var few = await new ToolCall().Run(Tool, new { BuildTarget = "StandaloneLinux64" });
        Assert.Equal(3, (int)few["TotalFiles"]!);
        Assert.Null(few["Files"]);
        var all = await new ToolCall().Run(Tool, new { BuildTarget = "StandaloneLinux64", EveryFile = true });
        Assert.Equal(
            ["Game.x86_64 6 ", "Game_Data/gone 3 Resources", "Game_Data/level0 5 Scene"],
            all["Files"]!.Select(file =>
                $"{Path.GetRelativePath(folder, (string)file["Path"]!)} {file["Bytes"]} {file["Role"]}"));
    }

    [Fact]
    public async Task A_folder_that_unity_names_no_file_of_is_listed_without_following_links()
    {
        editor.Builds.ActiveTarget = "WebGL";
        var folder = Path.Combine(editor.Info.ProjectPath, "Builds", "WebGL");
        Directory.CreateDirectory(Path.Combine(folder, "Build"));
        File.WriteAllText(Path.Combine(folder, "Build", ".hidden"), "h");
        File.WriteAllText(Path.Combine(folder, "index.html"), "page");
        if (!OperatingSystem.IsWindows())
        {
            File.CreateSymbolicLink(Path.Combine(folder, "link"), "/etc/passwd");
            Directory.CreateSymbolicLink(Path.Combine(folder, "folder"), "/etc");
        }
        var answer = await new ToolCall().Run(Tool, new { BuildTarget = "WebGL", EveryFile = true });
        Assert.Equal(
            ["Build/.hidden", "index.html"],
            answer["Files"]!.Select(file => Path.GetRelativePath(folder, (string)file["Path"]!)));
    }

    [Fact]
    public async Task Small_files_are_in_the_result_where_they_are_asked_for_within_their_limits_and_behind_no_link()
    {
        editor.Builds.ActiveTarget = "WebGL";
        var folder = Path.Combine(editor.Info.ProjectPath, "Builds", "WebGL");
        Directory.CreateDirectory(Path.Combine(folder, "Build"));
        File.WriteAllText(Path.Combine(folder, "Build", "level ü"), "level");
        File.WriteAllText(Path.Combine(folder, "index.html"), new string('x', 101));
        for (var at = 0; at < 6; at++) File.WriteAllBytes(Path.Combine(folder, "large" + at), new byte[200 * 1024]);
        if (!OperatingSystem.IsWindows()) File.CreateSymbolicLink(Path.Combine(folder, "link"), "/etc/hostname");
        editor.Builds.Outcome = request => new BuildOutcome(
            true, "Succeeded", request.OutputPath, 1, 1, 0, 0, Array.Empty<string>(),
            Directory.GetFiles(folder, "*", SearchOption.AllDirectories).Select(path => new BuiltFile(path, 1, "Other")).ToList());

        Assert.Null((await new ToolCall().Run(Tool, new { BuildTarget = "WebGL" }))["FileContents"]);
        var few = await new ToolCall().Run(Tool, new { BuildTarget = "WebGL", IncludeFilesUpTo = 100 });
        var file = Assert.Single(few["FileContents"]!);
        Assert.Equal("Build/level ü 5", $"{file["Path"]} {file["Bytes"]}");
        Assert.Equal("level", System.Text.Encoding.UTF8.GetString(Convert.FromBase64String((string)file["Base64"]!)));
        var all = await new ToolCall().Run(Tool, new { BuildTarget = "WebGL", IncludeFilesUpTo = 256 * 1024 });
        Assert.Equal(
            ["Build/level ü", "index.html", "large0", "large1", "large2", "large3", "large4"],
            all["FileContents"]!.Select(one => (string)one["Path"]!));
        var over = await ToolCall.Fails(Tool, new { BuildTarget = "WebGL", IncludeFilesUpTo = (256 * 1024) + 1 });
        Assert.Equal("invalid_arguments", over.Type);
    }

    [Fact]
    public async Task A_call_given_up_before_it_begins_builds_nothing()
    {
        var call = new ToolCall();
        call.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.Run(Tool, new { BuildTarget = "StandaloneLinux64" }));
        Assert.Empty(editor.Builds.Built);
    }

    [Theory]
    [InlineData("Android", "Out", "Out/Android/Game.apk")]
    [InlineData("StandaloneWindows64", "Out", "Out/StandaloneWindows64/Game.exe")]
    [InlineData("StandaloneOSX", "Out", "Out/StandaloneOSX/Game.app")]
    [InlineData("WebGL", "Out", "Out/WebGL")]
    [InlineData("Android", "Out/My.aab", "Out/My.aab")]
    public async Task The_player_goes_where_its_platform_wants_it(string target, string wanted, string expected)
    {
        editor.Builds.ActiveTarget = target;
        await new ToolCall().Run(Tool, new { BuildTarget = target, OutputPath = wanted });
        Assert.Equal(Path.Combine(editor.Info.ProjectPath, expected), editor.Builds.Built[0].OutputPath);
    }

    [Theory]
    [InlineData(".aab", "Out", "Out/Android/Game.aab")]
    [InlineData("", "Out", "Out/Android")]
    [InlineData(".aab", "Out/My.apk", "Out/My.apk")]
    public async Task A_player_has_the_form_that_the_Editors_settings_ask_for(string extension, string wanted, string expected)
    {
        (editor.Builds.ActiveTarget, editor.Builds.PlayerExtension) = ("Android", extension);
        await new ToolCall().Run(Tool, new { BuildTarget = "Android", OutputPath = wanted });
        Assert.Equal(Path.Combine(editor.Info.ProjectPath, expected), editor.Builds.Built[0].OutputPath);
    }

    [Theory]
    [InlineData("../Out")]
    [InlineData("/tmp/out/Game.apk")]
    [InlineData("Assets/Game.apk")]
    public async Task A_place_that_is_not_allowed_is_refused_before_anything_is_built(string wanted)
    {
        var refused = await ToolCall.Fails(Tool, new { BuildTarget = "StandaloneLinux64", OutputPath = wanted });
        Assert.Equal("security_blocked", refused.Type);
        Assert.Contains("allowed build folders", refused.Message);
        Assert.Empty(editor.Builds.Built);
    }

    [Fact]
    public async Task A_place_that_the_user_allows_is_built_to()
    {
        editor.Security.Current = new SecuritySnapshot { BuildFolders = new BuildFolderPolicy(["../out-of-it"]) };
        await new ToolCall().Run(Tool, new { BuildTarget = "StandaloneLinux64", OutputPath = "../out-of-it" });
        Assert.Contains("out-of-it", Assert.Single(editor.Builds.Built).OutputPath);
    }

    [Fact]
    public async Task A_project_name_that_is_no_file_name_is_made_one()
    {
        editor.Info.ProjectName = "My: Game/2";
        await new ToolCall().Run(Tool, new { BuildTarget = "StandaloneLinux64" });
        Assert.EndsWith("My_ Game_2.x86_64", editor.Builds.Built[0].OutputPath);
    }
}
