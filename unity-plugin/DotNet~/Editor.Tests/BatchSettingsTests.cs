#nullable enable
using System;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Unity;
using JobBroker.Bridge.Window;
using JobBroker.EditorStubs;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>The security switches of an Editor in batch mode, and of one with windows beside it.</summary>
public sealed class BatchSettingsTests
{
    [Fact]
    public void The_environment_sets_the_switches_in_batch_mode_only()
    {
        Environment.SetEnvironmentVariable(BatchPermissions.Variable, "tests");
        try
        {
            var interactive = new UnitySettings();
            interactive.Change(new BridgeSettings().With(SecuritySetting.MenuItemExecution, true));
            Assert.False(((ISecuritySettings)interactive).Current.IsOn(SecuritySetting.TestExecution));
            Assert.True(((ISecuritySettings)interactive).Current.IsOn(SecuritySetting.MenuItemExecution));
            Assert.Contains("batch mode only", interactive.Fault);

            StubEditor.IsBatchMode = true;
            var batch = new UnitySettings();
            Assert.Null(batch.Fault);
            foreach (var changed in new[] { false, true })
            {
                if (changed) batch.Change(new BridgeSettings().With(SecuritySetting.CodeExecution, true));
                var current = ((ISecuritySettings)batch).Current;
                Assert.True(current.IsOn(SecuritySetting.TestExecution));
                Assert.Single(current.Allowed);
            }
            Assert.True(new UnitySettings().Current.IsOn(SecuritySetting.CodeExecution), "what is saved stays what the user has saved");
        }
        finally
        {
            StubEditor.IsBatchMode = false;
            Environment.SetEnvironmentVariable(BatchPermissions.Variable, null);
            new UnitySettings().Change(new BridgeSettings());
        }
    }
}
