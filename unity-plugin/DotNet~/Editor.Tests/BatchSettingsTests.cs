#nullable enable
using System;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
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
            interactive.Change(new BridgeSettings(menuItemExecution: true));
            Assert.False(((ISecuritySettings)interactive).Current.TestExecution);
            Assert.True(((ISecuritySettings)interactive).Current.MenuItemExecution);
            Assert.Contains("batch mode only", interactive.Fault);

            StubEditor.IsBatchMode = true;
            var batch = new UnitySettings();
            Assert.Null(batch.Fault);
            foreach (var changed in new[] { false, true })
            {
                if (changed) batch.Change(new BridgeSettings(codeExecution: true));
                var current = ((ISecuritySettings)batch).Current;
                Assert.True(current.TestExecution);
                Assert.False(current.MenuItemExecution || current.CodeExecution || current.BuildExecution);
            }
            Assert.True(new UnitySettings().Current.CodeExecution, "what is saved stays what the user has saved");
        }
        finally
        {
            StubEditor.IsBatchMode = false;
            Environment.SetEnvironmentVariable(BatchPermissions.Variable, null);
            new UnitySettings().Change(new BridgeSettings());
        }
    }
}
