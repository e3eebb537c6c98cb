using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Window;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

/// <summary>
/// The security settings as the control channel switches them, and in batch mode as the command line names them.
/// </summary>
internal sealed class HostSecurity(NativeEditor native) : ISecuritySettings
{
    private readonly BatchPermissions? batch = BatchPermissions.Of(
        Environment.GetEnvironmentVariable(BatchPermissions.Variable), native.CommandLine, native.IsBatchMode, out _);

    public SecuritySnapshot Current => batch?.Over(Saved) ?? Saved.Security(native.IsBatchMode);

    private BridgeSettings Saved => new()
    {
        IsDevelopment = native.Switches.GetValueOrDefault("development"),
        Choices = ToolChoices.Of(native.Switches
            .Where(one => SecurityPlace.Named(one.Key) == null && one.Key != "development")
            .Select(one => one.Value ? one.Key : ToolChoices.Denial + one.Key)),
        Allowed = SecurityPlace.All.Where(setting => IsOn(SecurityPlace.WordOf(setting))).ToList(),
    };

    private bool IsOn(string word) => native.Switches.GetValueOrDefault(word, true);
}
