using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

/// <summary>The security settings as the control channel switches them; menu items are not filtered.</summary>
internal sealed class HostSecurity(NativeEditor native) : ISecuritySettings
{
    public SecuritySnapshot Current => new(
        testExecution: IsOn("Tests"),
        menuItemExecution: IsOn("MenuItems"),
        codeExecution: IsOn("Code"),
        buildExecution: IsOn("Builds"));

    private bool IsOn(string name) => native.Switches.TryGetValue(name, out var on) && on;
}
