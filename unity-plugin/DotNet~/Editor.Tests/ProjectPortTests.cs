#nullable enable
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor;
using UnityEditor.Build.Reporting;
using UnityEditor.Compilation;
using UnityEditor.PackageManager;
using UnityEngine;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>The adapter's ports of the project: assets, packages, platforms.</summary>
public sealed class ProjectPortTests
{
    private const string Profile = "Assets/Build Profiles/Phone.asset";

    private readonly StubbedEditor editor = new();
    private readonly UnityAssets assets = new();

    public ProjectPortTests()
    {
        StubProject.Add("Assets/Art", typeof(DefaultAsset));
        StubProject.Add("Assets/Art/Rock.png", typeof(Texture2D));
    }

    [Fact]
    public void Assets_are_found_and_described()
    {
        StubProject.Add("Assets/Art/Rock.mat", typeof(Material));
        Assert.Equal(["Assets/Art/Rock.mat"], assets.Find("Rock t:Material", ["Assets"]));
        var rock = assets.Get("Assets/Art/Rock.mat")!;
        Assert.Equal(("guid of Assets/Art/Rock.mat", "Material", false), (rock.Guid, rock.Type, rock.IsFolder));
        Assert.True(assets.Get("Assets")!.IsFolder);
        Assert.Null(assets.Get("Assets/Nowhere"));
        Assert.False(assets.IsOnDisk("Assets/Art/Rock.mat"));
        Assert.Equal("isReadable=true", string.Join(" ", assets.ImportSettings("Assets/Art/Rock.png").Select(one => $"{one.Name}={one.Value}")));
        Assert.Empty(assets.ImportSettings("Assets/Art/Rock.mat"));
    }

    [Fact]
    public void Changes_of_assets_are_Unitys()
    {
        Assert.Null(assets.CreateFolder("Assets", "New"));
        Assert.Null(assets.Copy("Assets/Art/Rock.png", "Assets/New/Rock.png"));
        Assert.Null(assets.Move("Assets/New", "Assets/Old"));
        Assert.Null(assets.MoveToTrash("Assets/Art"));
        assets.Reimport("Assets/Old");
        Assert.Equal(["Assets", "Assets/Old", "Assets/Old/Rock.png"], StubProject.Paths);
        Assert.Equal("Import Assets/Old ForceUpdate, ImportRecursive", StubProject.Calls.Last());
        assets.Refresh();
        Assert.Equal(1, StubEditor.Refreshes);
    }

    [Fact]
    public void What_Unity_does_not_do_is_said()
    {
        StubProject.IsLocked = true;
        Assert.Equal("It is locked.", assets.Move("Assets/Art", "Assets/New"));
        foreach (var refusal in new[]
        {
            assets.Copy("Assets/Art", "Assets/New"), assets.MoveToTrash("Assets/Art"), assets.CreateFolder("Assets", "New"),
            assets.CreatePrefab(Target(new GameObject("Rock")), "Assets/Rock.prefab"),
        })
        {
            Assert.Contains("get-logs", refusal);
        }
        Assert.Contains("Couldn't create", assets.CreateMaterial("Assets/Art/New.mat", ""));
    }

    [Fact]
    public void Materials_have_the_projects_shader_or_the_one_that_is_named()
    {
        Assert.Null(assets.CreateMaterial("Assets/Art/A.mat", ""));
        Assert.Null(assets.CreateMaterial("Assets/Art/B.mat", "Studio/Toon"));
        Assert.Equal(["Asset Assets/Art/A.mat Standard", "Asset Assets/Art/B.mat Studio/Toon"], StubProject.Calls);
        Assert.Equal("there is no shader Nope", assets.CreateMaterial("Assets/Art/C.mat", "Nope"));
    }

    [Fact]
    public void A_prefab_is_made_of_an_object_that_is_there()
    {
        Assert.Null(assets.CreatePrefab(Target(new GameObject("Rock")), "Assets/Rock.prefab"));
        Assert.Equal("GameObject", assets.Get("Assets/Rock.prefab")!.Type);
        var part = new GameObject("Part of a prefab");
        part.transform.SetParent(new GameObject("Root").transform, false);
        Assert.Contains("part of a Prefab", assets.CreatePrefab(Target(part), "Assets/Part.prefab"));
        var gone = new GameObject("Gone");
        UnityEngine.Object.DestroyImmediate(gone);
        Assert.Equal("the object is gone", assets.CreatePrefab(Target(gone), "Assets/Gone.prefab"));
    }

    [Fact]
    public async Task A_change_of_scripts_makes_the_Editor_compile_and_that_is_waited_for()
    {
        using var compiler = new UnityCompiler(editor.Clock);
        Assert.Null(compiler.PendingAsync());
        StubEditor.IsCompiling = true;
        EditorApplication.isPlaying = true;
        Assert.Null(compiler.PendingAsync());
        EditorApplication.isPlaying = false;
        var pending = compiler.PendingAsync()!;
        CompilationPipeline.Run(new UnityEditor.Compilation.CompilerMessage { type = CompilerMessageType.Error, message = "CS1" });
        Assert.True(pending.IsCompleted);
        Assert.Equal("CS1", Assert.Single((await pending).Messages).Message);
    }

    [Fact]
    public void A_request_is_followed_by_its_number()
    {
        var packages = new UnityPackages();
        packages.BeginAdd("com.studio.rocks");
        Assert.Equal(PackageRequestState.Running, packages.Poll().State);
        StubProject.Requests[1] = new StubRequest { Name = "com.studio.rocks", Version = "1.2.0" };
        var added = packages.Poll();
        Assert.Equal((PackageRequestState.Succeeded, "com.studio.rocks", "1.2.0"), (added.State, added.Name, added.Version));

        packages.BeginRemove("com.studio.rocks");
        Assert.Equal(PackageRequestState.Running, packages.Poll().State);
        StubProject.Requests[2] = new StubRequest { Error = "It is needed by com.studio.base." };
        Assert.Equal(PackageRequestState.Failed, packages.Poll().State);
        Assert.Equal("It is needed by com.studio.base.", packages.Poll().Message);
        Assert.Equal(["add com.studio.rocks", "remove com.studio.rocks"], StubProject.Calls);
    }

    [Fact]
    public void A_request_that_the_Package_Manager_has_forgotten_has_not_failed()
    {
        var packages = new UnityPackages();
        packages.BeginAdd("com.studio.rocks");
        StubProject.Requests.Clear();
        Assert.Equal(PackageRequestState.Gone, packages.Poll().State);
        // What Unity makes of it where nothing carried its number over a reload.
        PackageRequests.instance.Began(new UnityEditor.PackageManager.Requests.AddRequest());
        Assert.Equal(PackageRequestState.Gone, packages.Poll().State);
    }

    [Fact]
    public void Packages_are_those_that_Unity_has_registered()
    {
        StubProject.Register("com.studio.rocks", "1.2.0", PackageSource.Git, true);
        StubProject.Register("com.studio.base", "1.0.0", PackageSource.Registry, false);
        Assert.Equal(
            ["com.studio.rocks@1.2.0 Git True", "com.studio.base@1.0.0 Registry False"],
            new UnityPackages().Installed().Select(one => $"{one.Id} {one.Source} {one.IsDirect}"));
    }

    [Fact]
    public void The_platform_is_switched_away_from_a_profile_and_to_one()
    {
        StubProject.Add(Profile, typeof(UnityEditor.Build.Profile.BuildProfile));
        StubProject.Add("Assets/Build Profiles/Windows.asset", typeof(UnityEditor.Build.Profile.BuildProfile));
        var builds = new UnityBuilds(() => { });
        Assert.Equal([Profile, "Assets/Build Profiles/Windows.asset"], builds.Profiles!);

        Assert.Null(builds.SwitchToProfile(Profile));
        Assert.Equal((Profile, "Android"), (builds.ActiveProfile, builds.ActiveTarget));
        Assert.Contains("cannot build for StandaloneWindows", builds.SwitchToProfile("Assets/Build Profiles/Windows.asset"));
        Assert.Contains("cannot be loaded", builds.SwitchToProfile("Assets/Art"));
        Assert.Equal(Profile, builds.ActiveProfile);

        StubProject.RefusesSwitches = true;
        Assert.Contains("Unity refused it", builds.Switch("standalonelinux64"));
        Assert.Equal(Profile, builds.ActiveProfile);
        StubEditor.IsBatchMode = true;
        Assert.Contains("-buildTarget", builds.Switch("StandaloneLinux64"));
        StubEditor.IsBatchMode = false;
        StubProject.RefusesSwitches = false;
        Assert.Null(builds.Switch("StandaloneLinux64"));
        Assert.Equal((null, "StandaloneLinux64"), (builds.ActiveProfile, builds.ActiveTarget));
    }

    [Fact]
    public void A_profile_is_built_with_its_own_scenes_and_a_build_without_a_report_has_failed()
    {
        StubProject.Add(Profile, typeof(UnityEditor.Build.Profile.BuildProfile));
        BuildPlayerOptions asked = default;
        StubEditor.Build = options =>
        {
            asked = options;
            return null!;
        };
        var request = new BuildRequest("Android", "/out/game.apk", true, [], Profile);
        var outcome = new UnityBuilds(() => { }).Build(request, (_, _) => { });
        Assert.Equal(["Assets/OfProfile.unity"], asked.scenes);
        Assert.Equal(BuildOptions.Development, asked.options);
        Assert.False(outcome.Succeeded);
        Assert.Contains("without a report", outcome.Summary);
    }

    private static SceneObject Target(GameObject one) => UnityScenes.Read(one);
}
