using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Project;

public sealed class ManagePackagesToolTests : IDisposable
{
    private const string Cinemachine = "com.unity.cinemachine";

    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    private ScriptedPackages Packages => editor.Packages;

    private ManagePackagesTool Tool => new(editor.Services);

    [Fact]
    public async Task An_addition_ends_when_the_Editor_has_registered_and_compiled_it()
    {
        var call = new ToolCall();
        var running = call.Run(Tool, new { Action = "Add", Package = Cinemachine });
        Assert.Equal(["add " + Cinemachine], Packages.Asked);
        editor.Tick(5);
        Packages.Request = new PackageRequest(PackageRequestState.Succeeded, "", Cinemachine, "3.1.2");
        editor.Tick(5);
        Assert.False(running.IsCompleted);
        Packages.Register(Cinemachine, "3.1.2");
        editor.Info.Phase = "compiling";
        editor.Tick(5);
        Assert.False(running.IsCompleted);
        editor.Info.Phase = "ready";
        editor.Tick(2);
        Assert.False(running.IsCompleted);
        editor.Tick();
        var answer = await running;
        Assert.Equal((Cinemachine, "3.1.2", "Registry"), ((string)answer["Package"]!, (string)answer["Version"]!, (string)answer["Source"]!));
        Assert.True((bool)answer["Changed"]!);
        Assert.Null(answer["PreviousVersion"]);
        Assert.Null(answer["Message"]);
        Assert.Single(Packages.Asked);
    }

    [Fact]
    public async Task A_reload_while_the_Package_Manager_works_asks_for_nothing_again()
    {
        var before = new ToolCall();
        _ = before.Run(Tool, new { Action = "Add", Package = Cinemachine + "@3.1.2" });
        var resumed = Resume(before);
        editor.Tick();
        Packages.Request = new PackageRequest(PackageRequestState.Succeeded, "", Cinemachine, "3.1.2");
        Packages.Register(Cinemachine, "3.1.2");
        editor.Tick(4);
        Assert.Equal("3.1.2", (string)(await resumed)["Version"]!);
        Assert.Single(Packages.Asked);
    }

    [Fact]
    public async Task A_reload_after_its_answer_waits_for_the_Editor_alone()
    {
        var before = new ToolCall();
        _ = before.Run(Tool, new { Action = "Add", Package = "https://git.example/new.git" });
        Packages.Request = new PackageRequest(PackageRequestState.Succeeded, "", "com.studio.new", "0.2.0");
        editor.Tick();
        Packages.Request = new PackageRequest(PackageRequestState.Gone);
        var resumed = Resume(before);
        Packages.Register("com.studio.new", "0.2.0", "Git", "com.studio.new@https://git.example/new.git");
        editor.Tick(3);
        var answer = await resumed;
        Assert.Equal(("com.studio.new", "Git"), ((string)answer["Package"]!, (string)answer["Source"]!));
        Assert.Equal("Its code comes from https://git.example/new.git, from no registry.", (string)answer["Message"]!);
        Assert.Single(Packages.Asked);
    }

    [Theory]
    [InlineData("Add", "com.unity.cinemachine@3.1.2", "com.unity.cinemachine", "3.1.2", "com.unity.cinemachine@3.1.2", true)]
    [InlineData("Add", "com.unity.cinemachine@3.1.2", "com.unity.cinemachine", "3.0.0", "com.unity.cinemachine@3.0.0", false)]
    [InlineData("Add", "https://git.example/new.git", "com.studio.new", "0.2.0", "com.studio.new@https://git.example/new.git", true)]
    [InlineData("Add", "https://git.example/new.git", "com.studio.other", "0.2.0", "com.studio.other@1.0.0", false)]
    [InlineData("Update", "com.studio.rocks", "com.studio.rocks", "2.1.0", "com.studio.rocks@2.1.0", true)]
    [InlineData("Update", "com.studio.rocks", "com.studio.rocks", "2.0.0", "com.studio.rocks@2.0.0", false)]
    public async Task What_the_Package_Manager_has_forgotten_is_looked_for(
        string action, string package, string name, string version, string id, bool isKnown)
    {
        var before = new ToolCall();
        _ = before.Run(Tool, new { Action = action, Package = package });
        Packages.Request = new PackageRequest(PackageRequestState.Gone);
        Packages.Register(name, version, "Registry", id);
        var resumed = Resume(before);
        editor.Tick(10);
        editor.Clock.ElapsedMs += 61_000;
        editor.Tick();
        if (isKnown)
        {
            Assert.True((bool)(await resumed)["Success"]!);
            return;
        }
        var error = await Assert.ThrowsAsync<ToolException>(() => resumed);
        Assert.Equal("outcome_unknown", error.Type);
        Assert.Contains("list-packages", error.Message);
        Assert.Single(Packages.Asked);
    }

    [Fact]
    public async Task What_was_there_before_does_not_say_that_its_address_was_read_again()
    {
        var before = new ToolCall();
        _ = before.Run(Tool, new { Action = "Add", Package = "https://joe:secret@git.example/tool.git#main" });
        Packages.Request = new PackageRequest(PackageRequestState.Gone);
        var resumed = Resume(before);
        editor.Tick(10);
        Assert.False(resumed.IsCompleted);
        editor.Clock.ElapsedMs += 61_000;
        editor.Tick();
        Assert.Equal("outcome_unknown", (await Assert.ThrowsAsync<ToolException>(() => resumed)).Type);
        Assert.Single(Packages.Asked);
    }

    [Fact]
    public async Task An_answer_that_does_not_come_in_time_is_unknown()
    {
        var running = new ToolCall().Run(Tool, new { Action = "Add", Package = Cinemachine });
        editor.Clock.ElapsedMs += 21 * 60_000;
        editor.Tick();
        var error = await Assert.ThrowsAsync<ToolException>(() => running);
        Assert.Equal("outcome_unknown", error.Type);
        Assert.Contains("Packages/manifest.json", error.Message);
    }

    [Fact]
    public async Task The_deadline_counts_over_reloads()
    {
        var before = new ToolCall();
        _ = before.Run(Tool, new { Action = "Add", Package = Cinemachine });
        editor.Clock.NowMs += 21 * 60_000;
        var resumed = Resume(before);
        editor.Tick();
        Assert.Equal("outcome_unknown", (await Assert.ThrowsAsync<ToolException>(() => resumed)).Type);
    }

    [Fact]
    public async Task Success_that_the_Editor_never_shows_is_unknown()
    {
        var running = new ToolCall().Run(Tool, new { Action = "Remove", Package = "com.studio.rocks" });
        Packages.Request = new PackageRequest(PackageRequestState.Succeeded);
        editor.Tick(10);
        editor.Clock.ElapsedMs += 61_000;
        editor.Tick();
        var error = await Assert.ThrowsAsync<ToolException>(() => running);
        Assert.Equal("outcome_unknown", error.Type);
        Assert.Contains("has not registered it", error.Message);
    }

    [Fact]
    public async Task The_Package_Managers_refusal_is_told()
    {
        var running = new ToolCall().Run(Tool, new { Action = "Add", Package = "com.studio.none@1.0.0" });
        Packages.Request = new PackageRequest(PackageRequestState.Failed, "Package [com.studio.none@1.0.0] cannot be found");
        editor.Tick();
        var error = await Assert.ThrowsAsync<ToolException>(() => running);
        Assert.Equal("package_failed", error.Type);
        Assert.Contains("cannot be found", error.Message);
    }

    [Fact]
    public async Task Packages_are_removed_and_updated_where_the_project_names_them()
    {
        var removal = new ToolCall().Run(Tool, new { Action = "Remove", Package = "com.studio.rocks" });
        Packages.Request = new PackageRequest(PackageRequestState.Succeeded);
        Packages.Registered.RemoveAll(one => one.Name == "com.studio.rocks");
        editor.Info.Phase = "compile_errors";
        editor.Tick(4);
        var removed = await removal;
        Assert.Equal("2.0.0", (string)removed["PreviousVersion"]!);
        Assert.Null(removed["Version"]);
        Assert.Contains("Scripts do not compile now", (string)removed["Message"]!);

        _ = new ToolCall().Run(Tool, new { Action = "Update", Package = "com.studio.tool" });
        _ = new ToolCall().Run(Tool, new { Action = "Update", Package = "com.unity.ugui@2.0.0" });
        Assert.Equal(
            ["remove com.studio.rocks", "add https://joe:secret@git.example/tool.git#main", "add com.unity.ugui@2.0.0"],
            Packages.Asked);
    }

    [Fact]
    public async Task What_is_so_already_is_not_asked_for()
    {
        foreach (var package in new[] { "com.studio.rocks", "com.studio.rocks@2.0.0" })
        {
            var answer = await new ToolCall().Run(Tool, new { Action = "Add", Package = package });
            Assert.False((bool)answer["Changed"]!);
        }
        Assert.False((bool)(await new ToolCall().Run(Tool, new { Action = "Update", Package = "com.studio.rocks@2.0.0" }))["Changed"]!);
        Assert.Empty(Packages.Asked);
    }

    [Theory]
    [InlineData("Add", "", "invalid_arguments")]
    [InlineData("Add", "Cinemachine", "invalid_arguments")]
    [InlineData("Add", "com.unity.cinemachine@latest", "invalid_arguments")]
    [InlineData("Add", "com.unity.cinemachine@3.1.2 --registry=x", "invalid_arguments")]
    [InlineData("Add", "com.unity.cinemachine@^3.0.0", "invalid_arguments")]
    [InlineData("Add", "https://example.com/package.tgz", "invalid_arguments")]
    [InlineData("Add", "file:", "invalid_arguments")]
    [InlineData("Add", "../local", "invalid_arguments")]
    [InlineData("Remove", "com.studio.rocks@2.0.0", "invalid_arguments")]
    [InlineData("Remove", "https://git.example/tool.git", "invalid_arguments")]
    [InlineData("Remove", "com.studio.base", "package_not_direct")]
    [InlineData("Remove", "com.studio.local", "package_embedded")]
    [InlineData("Remove", "com.unity.rocks", "package_not_installed")]
    [InlineData("Update", "com.unity.cinemachine", "package_not_installed")]
    [InlineData("Update", "file:../local", "invalid_arguments")]
    public async Task What_cannot_be_done_is_refused_before_the_Package_Manager_is_asked(string action, string package, string type)
    {
        var refused = await ToolCall.Fails(Tool, new { Action = action, Package = package });
        Assert.Equal(type, refused.Type);
        if (package == "com.unity.rocks") Assert.Contains("Did you mean com.studio.rocks?", refused.Message);
        Assert.Empty(Packages.Asked);
    }

    [Theory]
    [InlineData("com.unity.cinemachine@3.0.0-pre.1")]
    [InlineData("https://github.com/studio/pack.git?path=/Unity#v1.2")]
    [InlineData("git+https://github.com/studio/pack.git")]
    [InlineData("ssh://git@example.com/pack.git")]
    [InlineData("git@github.com:studio/pack.git")]
    [InlineData("file:../../Local Packages/pack")]
    [InlineData("file:pack-1.0.0.tgz")]
    public void Every_form_of_a_package_is_handed_on_as_it_is(string package)
    {
        _ = new ToolCall().Run(Tool, new { Action = "Add", Package = package });
        Assert.Equal(["add " + package], Packages.Asked);
    }

    [Fact]
    public async Task Nothing_is_known_of_a_change_without_a_record()
    {
        var error = await Assert.ThrowsAsync<ToolException>(
            () => Tool.ResumeAsync(new JObject(), null, new ToolCall().Context));
        Assert.Equal("domain_reload", error.Type);
        Assert.Empty(Packages.Asked);
    }

    [Fact]
    public async Task The_projects_own_packages_are_listed_without_the_secrets_of_their_addresses()
    {
        var list = new ListPackagesTool(editor.Services);
        var own = await new ToolCall().Run(list);
        Assert.Equal(
            ["com.studio.local", "com.studio.rocks", "com.studio.tool", "com.unity.ugui"],
            own["Packages"]!.Select(one => (string)one["Name"]!));
        Assert.Equal("https://git.example/tool.git#main", (string)own["Packages"]![2]!["From"]!);
        Assert.Null(own["Packages"]![1]!["From"]);
        var some = await new ToolCall().Run(list, new { FilterText = "STUDIO", IncludeIndirect = true, MaxResults = 1 });
        Assert.Equal(4, (int)some["TotalCount"]!);
        Assert.Equal("com.studio.base", (string)Assert.Single(some["Packages"]!)["Name"]!);
    }

    /// <summary>The call in the next script domain: other waits, the same Package Manager.</summary>
    private async Task<JToken> Resume(ToolCall before)
    {
        var record = JToken.Parse(before.Record!.ToString());
        return (JToken)(await Tool.ResumeAsync(new JObject(), record, new ToolCall().Context))!;
    }
}
