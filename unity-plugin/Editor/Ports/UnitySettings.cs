#nullable enable
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Window;

namespace JobBroker.Bridge.Unity
{
    /// <summary>The settings as any thread may read them: snapshots, replaced with every change.</summary>
    internal sealed class UnitySettings : IBridgeSettings, ISecuritySettings
    {
        private volatile BridgeSettings current;
        private volatile SecuritySnapshot security;

        /// <summary>Main thread only.</summary>
        public UnitySettings()
        {
            current = JobBrokerSettings.instance.Read();
            security = current.Security();
        }

        public BridgeSettings Current => current;

        SecuritySnapshot ISecuritySettings.Current => security;

        public void Change(BridgeSettings settings)
        {
            JobBrokerSettings.instance.Write(settings);
            current = settings;
            security = settings.Security();
        }
    }
}
