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

    private BridgeSettings Saved => new(
        testExecution: IsOn("Tests"),
        menuItemExecution: IsOn("MenuItems"),
        codeExecution: IsOn("Code"),
        buildExecution: IsOn("Builds"));

    private bool IsOn(string name) => native.Switches.TryGetValue(name, out var on) && on;
}
