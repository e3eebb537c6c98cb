#nullable enable
using JobBroker.Bridge.Security;

namespace JobBroker.Bridge.Window
{
    /// <summary>Where the user's settings of a project are kept. Changed on the main thread; read from any.</summary>
    public interface IBridgeSettings
    {
        BridgeSettings Current { get; }

        /// <summary>What counts of them, beside what the environment and the command line say.</summary>
        SecuritySnapshot Security { get; }

        /// <summary>Keeps them, on the disk as well. Throws IOException when they cannot be written.</summary>
        void Change(BridgeSettings settings);
    }
}
