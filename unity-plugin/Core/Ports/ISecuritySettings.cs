#nullable enable
using JobBroker.Bridge.Security;

namespace JobBroker.Bridge.Ports
{
    /// <summary>What the user of this Editor allows clients to do.</summary>
    public interface ISecuritySettings
    {
        /// <summary>
        /// The settings as they are now. Any thread: adapters replace the snapshot whenever one is changed.
        /// </summary>
        SecuritySnapshot Current { get; }
    }
}
