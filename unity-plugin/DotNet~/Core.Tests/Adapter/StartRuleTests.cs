#nullable enable
using System.Collections.Generic;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Window;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

public sealed class StartRuleTests
{
    [Theory]
    [InlineData(false, false, "", null, true)]
    [InlineData(true, false, "", null, false)]
    [InlineData(true, false, "-jobBroker", "1", false)]
    [InlineData(false, true, "", null, false)]
    [InlineData(false, true, "-batchmode -jobBroker", null, true)]
    [InlineData(false, true, "-batchmode -JOBBROKER", null, true)]
    [InlineData(false, true, "-jobBrokerish", null, false)]
    [InlineData(false, false, "-projectPath Library/VP/mppm1 --virtual-project-clone", null, false)]
    [InlineData(false, true, "-batchmode -jobBroker --virtual-project-clone", "1", false)]
    [InlineData(false, true, "", "1", true)]
    [InlineData(false, true, "", "0", false)]
    public void Runs_where_it_may(bool isHelper, bool isBatchMode, string words, string? environment, bool expected) =>
        Assert.Equal(expected, StartRule.MayRun(isHelper, isBatchMode, words.Split(' '), environment));

    [Fact]
    public void Batch_mode_needs_no_click()
    {
        Assert.True(StartRule.StartsItself(true, false));
        Assert.False(StartRule.StartsItself(false, false));
        Assert.True(StartRule.StartsItself(false, true));
    }

    [Fact]
    public void The_environments_port_goes_before_the_settings()
    {
        var environment = new Dictionary<string, string> { ["UNITY_TCP_PORT"] = "8733" };
        var options = StartOptions.Of(new BridgeSettings { Port = 8710 }, environment.GetValueOrDefault, out var fault);
        Assert.Equal(8733, options.Port);
        Assert.Null(fault);
        Assert.Equal(8710, StartOptions.Of(new BridgeSettings { Port = 8710 }, _ => null, out _).Port);
        Assert.Null(StartOptions.Of(new BridgeSettings(), _ => null, out _).Port);
    }

    [Theory]
    [InlineData("0")]
    [InlineData("65536")]
    [InlineData("eight")]
    [InlineData("-1")]
    public void A_port_that_is_none_is_said_and_ignored(string written)
    {
        var options = StartOptions.Of(new BridgeSettings(), name => name == "UNITY_TCP_PORT" ? written : null, out var fault);
        Assert.Null(options.Port);
        Assert.Contains(written, fault);
    }

    [Theory]
    [InlineData("Tools/Bake", "Tools/Bake")]
    [InlineData("Tools/Bake %#b", "Tools/Bake")]
    [InlineData("Tools/Bake It _g", "Tools/Bake It")]
    [InlineData("Tools/Bake &LEFT", "Tools/Bake")]
    [InlineData("Tools/Cut & Paste", "Tools/Cut & Paste")]
    [InlineData("Tools/Odd &", "Tools/Odd &")]
    [InlineData("%g", "%g")]
    public void A_menu_path_is_told_without_its_shortcut(string written, string path) =>
        Assert.Equal(path, MenuPath.WithoutShortcut(written));

    [Fact]
    public void What_blocks_longest_names_the_phase()
    {
        Assert.Equal("ready", EditorPhase.Of(false, false, false, false, false, false, false));
        Assert.Equal("compile_errors", EditorPhase.Of(false, false, false, false, false, false, true));
        Assert.Equal("testing", EditorPhase.Of(false, false, false, false, true, true, false));
        Assert.Equal("changing_play_mode", EditorPhase.Of(false, false, false, true, true, true, false));
        Assert.Equal("building", EditorPhase.Of(true, true, true, true, true, true, true));
    }
}
