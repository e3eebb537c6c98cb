#nullable enable
using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Security;

public sealed class ToolConsentTests
{
    private const string Assembly = "Core.Tests";
    private const string Yes = "";
    private const string Switch = "Allow Scene Editing";
    private const string ByName = "denied by its name";
    private const string Package = "comes with the package com.foreign";
    private const string SwitchedOff = $"the tools of the assembly {Assembly} are switched off";

    /// <summary>own: of the project's code; foreign: of a package. "scenes" needs that switch, "free" needs none.</summary>
    [Theory]
    // The bridge's own: its switch, then what was said of it alone.
    [InlineData("bridge free", "", Yes)]
    [InlineData("bridge free", "-tool", ByName)]
    [InlineData("bridge free", "assembly:" + Assembly + ",-assembly:JobBroker.Bridge.Core", Yes)]
    [InlineData("bridge scenes", "", Switch)]
    [InlineData("bridge scenes", "tests", Switch)]
    [InlineData("bridge scenes", "scenes", Yes)]
    [InlineData("bridge scenes", "tool", Yes)]
    [InlineData("bridge scenes", "TOOL", Yes)]
    [InlineData("bridge scenes", "scenes,-tool", ByName)]
    [InlineData("bridge scenes", "scenes,tool,-tool", ByName)]
    [InlineData("bridge scenes", "scenes,-tool,tool", ByName)]
    [InlineData("bridge scenes", "other-tool", Switch)]
    // The project's own code: on, until it is switched off.
    [InlineData("own free", "", Yes)]
    [InlineData("own free", "-assembly:" + Assembly, SwitchedOff)]
    [InlineData("own free", "-assembly:Another", Yes)]
    [InlineData("own free", "-assembly:" + Assembly + ",tool", Yes)]
    [InlineData("own free", "-tool", ByName)]
    [InlineData("own scenes", "", Switch)]
    [InlineData("own scenes", "assembly:" + Assembly, Switch)]
    [InlineData("own scenes", "scenes", Yes)]
    [InlineData("own scenes", "scenes,-assembly:" + Assembly, SwitchedOff)]
    // A package's code: off, until it is switched on.
    [InlineData("foreign free", "", Package)]
    [InlineData("foreign free", "scenes,code,assets", Package)]
    [InlineData("foreign free", "assembly:" + Assembly, Yes)]
    [InlineData("foreign free", "ASSEMBLY:" + Assembly, Yes)]
    [InlineData("foreign free", "assembly:" + Assembly + ",-tool", ByName)]
    [InlineData("foreign free", "-assembly:" + Assembly, SwitchedOff)]
    [InlineData("foreign free", "tool", Yes)]
    [InlineData("foreign scenes", "assembly:" + Assembly, Switch)]
    [InlineData("foreign scenes", "scenes", Package)]
    [InlineData("foreign scenes", "scenes,assembly:" + Assembly, Yes)]
    public void What_was_said_of_a_tool_comes_first_then_its_assembly_then_its_switch(string tool, string words, string expected)
    {
        var refusal = ToolConsent.Refusal(Made(tool), Said(words));
        if (expected == Yes) Assert.Null(refusal);
        else Assert.Contains(expected, refusal);
    }

    [Theory]
    [InlineData("bridge scenes", "", false, "tool is blocked: switch on \"Allow Scene Editing\" in Unity under "
        + "Window > Unity Job Broker, section Security (or tool alone, section Tools).")]
    [InlineData("bridge scenes", "", true, "tool is blocked: start this Editor with -brokerAllow scenes or UNITY_BROKER_ALLOW=scenes, "
        + "beside what it already allows (tool in its place allows this tool alone); or switch on \"Allow Scene Editing\" on this "
        + "machine in Unity under Window > Unity Job Broker, section Security.")]
    [InlineData("foreign free", "", false, "tool is blocked: it comes with the package com.foreign, whose tools are off until you allow "
        + "them; switch on \"" + Assembly + "\" in Unity under Window > Unity Job Broker, section Tools.")]
    [InlineData("foreign free", "", true, "tool is blocked: it comes with the package com.foreign, whose tools are off until you allow "
        + "them; start this Editor with -brokerAllow assembly:" + Assembly + " or UNITY_BROKER_ALLOW=assembly:" + Assembly
        + ", beside what it already allows; or switch on \"" + Assembly + "\" in Unity under Window > Unity Job Broker, section Tools, "
        + "on this machine.")]
    [InlineData("own free", "-tool", false, "tool is blocked: it is denied by its name; switch tool on in Unity under "
        + "Window > Unity Job Broker, section Tools.")]
    [InlineData("own free", "-tool", true, "tool is blocked: it is denied by its name; take -tool out of -brokerAllow or "
        + "UNITY_BROKER_ALLOW; or switch tool on in Unity under Window > Unity Job Broker, section Tools, on this machine.")]
    public void A_refusal_names_the_shortest_way(string tool, string words, bool isBatch, string sentence) =>
        Assert.Equal(sentence, ToolConsent.Refusal(Made(tool), Said(words) with { IsBatch = isBatch }));

    [Fact]
    public void A_tool_for_development_wants_the_mode_whatever_else_is_allowed()
    {
        var tool = Made("own free", isForDevelopment: true);
        Assert.Equal(
            "tool is blocked: it is for development; switch on \"Development mode\" in Unity under Window > Unity Job Broker, "
            + "section Tools, or start this Editor with UNITY_BROKER_DEVELOPMENT=1.",
            ToolConsent.Refusal(tool, Said("tool")));
        Assert.Null(ToolConsent.Refusal(tool, Said("") with { IsDevelopment = true }));
        Assert.NotNull(ToolConsent.Refusal(tool, Said("-tool") with { IsDevelopment = true }));
    }

    [Fact]
    public void Names_that_nothing_here_has_are_said_in_batch_mode()
    {
        var tools = new[] { Made("foreign free") };
        var said = Said("scenes,tool,-TOOL,assembly:" + Assembly.ToUpperInvariant() + ",run-test,-assembly:Gone") with { IsBatch = true };
        var sentence = ToolConsent.Unknown(said, tools);
        Assert.StartsWith("What may run here is said by names that no tool of this Editor has: -assembly:Gone, run-test. Known are ", sentence);
        Assert.Null(ToolConsent.Unknown(said with { IsBatch = false }, tools));
        Assert.Null(ToolConsent.Unknown(Said("scenes,-tool") with { IsBatch = true }, tools));
    }

    [Theory]
    [InlineData("save-scene", true)]
    [InlineData("-save-scene", true)]
    [InlineData("assembly:Game.Tools", true)]
    [InlineData("-assembly:Game.Tools", true)]
    [InlineData("", false)]
    [InlineData("-", false)]
    [InlineData("--save", false)]
    [InlineData("assembly:", false)]
    [InlineData("*", false)]
    [InlineData("two words", false)]
    public void A_word_names_a_tool_or_an_assembly(string word, bool isOne)
    {
        Assert.Equal(isOne, ToolChoices.IsWord(word));
        Assert.Equal(isOne ? [word] : [], ToolChoices.Of([word]).Words);
    }

    [Fact]
    public void What_is_taken_back_leaves_nothing_behind()
    {
        var choices = ToolChoices.None.WithTool("save-scene", true).WithAssembly("Game.Tools", false);
        Assert.Equal(["-assembly:Game.Tools", "save-scene"], choices.Words);
        Assert.Equal((true, false, null), (choices.OfTool("save-scene"), choices.OfAssembly("game.tools"), choices.OfTool("Game.Tools")));
        Assert.Equal(["-save-scene"], choices.WithAssembly("GAME.tools", null).WithTool("save-scene", false).Words);
        Assert.Empty(choices.WithAssembly("Game.Tools", null).WithTool("save-scene", null).Words);
    }

    private static RegisteredTool Made(string what, bool isForDevelopment = false) => new(
        "tool",
        new Idle(),
        new McpToolAttribute
        {
            RequiredSecuritySetting = what.EndsWith("scenes", StringComparison.Ordinal) ? SecuritySetting.SceneEditing : SecuritySetting.None,
            DisplayDevelopmentOnly = isForDevelopment,
        },
        what.StartsWith("bridge", StringComparison.Ordinal),
        what.StartsWith("foreign", StringComparison.Ordinal) ? "com.foreign" : null);

    private static SecuritySnapshot Said(string words)
    {
        var all = words.Split(',', StringSplitOptions.RemoveEmptyEntries);
        return new SecuritySnapshot
        {
            Allowed = all.Select(SecurityPlace.Named).OfType<SecuritySetting>().ToList(),
            Choices = ToolChoices.Of(all.Where(word => SecurityPlace.Named(word) == null)),
        };
    }

    private sealed class Idle : IUnityTool
    {
        public JObject InputSchema { get; } = new() { ["type"] = "object" };

        public Task<object?> ExecuteAsync(JObject arguments, ToolContext context) => Task.FromResult<object?>(null);
    }
}
