#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Config;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;
using Xunit;

namespace JobBroker.Bridge.Tests.Window;

/// <summary>The tools in the window, and what a click on one of them changes.</summary>
public sealed class WindowToolsTests : IDisposable
{
    private readonly InMemoryEditor editor = new();
    private readonly MemorySettings settings = new();
    private readonly ClientInstaller installer = new(new ConfigMachine(true, "/nowhere", ""), _ => { }, new Silent());
    private readonly McpEditorWindowPresenter presenter;

    public WindowToolsTests()
    {
        var tools = new UnityToolRegistry(
            editor.Services, typeof(WindowToolsTests).Assembly.GetTypes(), _ => { }, _ => "com.foreign");
        presenter = new McpEditorWindowPresenter(
            new ScriptedControl { All = tools.All() }, settings, installer, new McpCommunicationLog(editor.Clock), editor.Clock);
    }

    public void Dispose()
    {
        editor.Dispose();
        installer.Dispose();
    }

    private ToolRow Tool(string name) => presenter.View().Tools.SelectMany(group => group.Tools).Single(tool => tool.Name == name);

    [Fact]
    public void Shows_which_tools_are_off_and_what_switches_them_on()
    {
        Assert.False(Tool("run-tests").IsOn);
        Assert.EndsWith(", needs \"Enable Tests Execution\"", Tool("run-tests").Remark);
        Assert.True(Tool("ping").IsOn);

        presenter.SetSecurity(SecuritySetting.TestExecution, true);

        Assert.True(Tool("run-tests").IsOn);
        Assert.Equal("safe to repeat, minutes", Tool("run-tests").Remark);
        Assert.True(settings.Current.IsOn(SecuritySetting.TestExecution));
        Assert.False(settings.Current.IsOn(SecuritySetting.MenuItemExecution));
    }

    [Fact]
    public void One_tool_is_switched_alone_and_what_counts_anyway_is_not_kept()
    {
        presenter.SetTool("execute-code", true);
        Assert.True(Tool("execute-code").IsOn);
        Assert.EndsWith(", on alone", Tool("execute-code").Remark);
        Assert.Equal(["execute-code"], settings.Current.Choices.Words);
        presenter.SetTool("execute-code", false);
        Assert.Empty(settings.Current.Choices.Words);

        presenter.SetSecurity(SecuritySetting.CodeExecution, true);
        presenter.SetTool("execute-code", false);
        Assert.EndsWith(", off alone", Tool("execute-code").Remark);
        Assert.Equal(["-execute-code"], settings.Current.Choices.Words);
        presenter.SetTool("execute-code", true);
        Assert.Empty(settings.Current.Choices.Words);
        presenter.SetTool("never-there", true);
        Assert.Empty(settings.Current.Choices.Words);
    }

    [Fact]
    public void The_tools_of_a_packages_assembly_are_switched_together()
    {
        var own = presenter.View().Tools[0];
        Assert.Equal((null, "", true), (own.Assembly, own.Title, own.IsOn));
        var foreign = presenter.View().Tools[1];
        Assert.Equal(("Core.Tests", "Core.Tests, with the package com.foreign", false), (foreign.Assembly, foreign.Title, foreign.IsOn));
        Assert.All(foreign.Tools, tool => Assert.False(tool.IsOn));

        presenter.SetAssembly("Core.Tests", true);
        Assert.True(presenter.View().Tools[1].IsOn);
        Assert.True(Tool("count-components").IsOn);
        Assert.Equal(["assembly:Core.Tests"], settings.Current.Choices.Words);
        presenter.SetAssembly("Core.Tests", false);
        Assert.Empty(settings.Current.Choices.Words);
    }

    [Fact]
    public void Development_mode_is_a_switch()
    {
        Assert.False(presenter.View().IsDevelopment);
        presenter.SetAssembly("Core.Tests", true);
        Assert.False(Tool("fixture-http-good").IsOn);
        presenter.SetDevelopment(true);
        Assert.True(presenter.View().IsDevelopment);
        Assert.True(Tool("fixture-http-good").IsOn);
        Assert.Contains("development only", Tool("fixture-http-good").Remark);
    }
}
