#nullable enable
namespace JobBroker.Bridge
{
    /// <summary>
    /// Where the bridge says what people may want to know. Every member may be called from any thread and never
    /// throws.
    /// </summary>
    public interface IBridgeLog
    {
        void Info(string message);

        void Warn(string message);
    }
}
