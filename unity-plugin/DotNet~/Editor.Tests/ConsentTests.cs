#nullable enable
using System;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Unity;
using JobBroker.Bridge.Window;
using JobBroker.EditorStubs;
using UnityEditor.PackageManager;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>What the adapter knows of other people's tools, and keeps of what was said of single ones.</summary>
public sealed class ConsentTests
{
    [Theory]
    [InlineData(PackageSource.Registry, "com.tools")]
    [InlineData(PackageSource.Git, "com.tools")]
    [InlineData(PackageSource.Embedded, null)]
    [InlineData(PackageSource.Local, null)]
    [InlineData(null, null)]
    public void Code_of_a_package_that_nobody_writes_here_is_other_peoples(PackageSource? source, string? expected)
    {
        var assembly = typeof(ConsentTests).Assembly;
        try
        {
            if (source.HasValue) StubEditor.Install(assembly.GetName().Name!, "com.tools", source.Value);
            Assert.Equal(expected, ToolPackages.Of(assembly));
        }
        finally
        {
            StubEditor.Packages.Clear();
        }
    }

    [Fact]
    public void What_was_said_of_single_tools_is_saved_beside_the_switches()
    {
        var settings = new UnitySettings();
        try
        {
            settings.Change(new BridgeSettings
            {
                Allowed = [Tools.SecuritySetting.SceneEditing],
                Choices = ToolChoices.Of(["-save-scene", "assembly:Game.Tools"]),
                IsDevelopment = true,
            });
            var read = new UnitySettings().Current;
            Assert.Equal([Tools.SecuritySetting.SceneEditing], read.Allowed);
            Assert.Equal(["-save-scene", "assembly:Game.Tools"], read.Choices.Words);
            Assert.True(read.IsDevelopment);
            Assert.Equal(["-save-scene", "assembly:Game.Tools"], new UnitySettings().Security.Choices.Words);
        }
        finally
        {
            settings.Change(new BridgeSettings());
        }
    }

    [Theory]
    [InlineData("1", true)]
    [InlineData("0", false)]
    [InlineData(null, false)]
    public void The_environment_switches_development_mode_on_also_in_batch_mode(string? value, bool expected)
    {
        Environment.SetEnvironmentVariable(SecurityPlace.DevelopmentVariable, value);
        try
        {
            Assert.Equal(expected, new UnitySettings().Security.IsDevelopment);
            Assert.False(new UnitySettings().Current.IsDevelopment);
            Environment.SetEnvironmentVariable(BatchPermissions.Variable, "tests");
            StubEditor.IsBatchMode = true;
            Assert.Equal(expected, new UnitySettings().Security.IsDevelopment);
        }
        finally
        {
            StubEditor.IsBatchMode = false;
            Environment.SetEnvironmentVariable(BatchPermissions.Variable, null);
            Environment.SetEnvironmentVariable(SecurityPlace.DevelopmentVariable, null);
        }
    }
}
