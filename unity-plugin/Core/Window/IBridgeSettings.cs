#nullable enable
namespace JobBroker.Bridge.Window
{
    /// <summary>Where the user's settings of a project are kept. Changed on the main thread; read from any.</summary>
    public interface IBridgeSettings
    {
        BridgeSettings Current { get; }

        /// <summary>Keeps them, on the disk as well. Throws IOException when they cannot be written.</summary>
        void Change(BridgeSettings settings);
    }
}
