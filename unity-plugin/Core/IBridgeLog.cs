#nullable enable
namespace JobBroker.Bridge
{
    /// <summary>
    /// The bridge's log for people. Every member may be called from any thread and never throws.
    /// </summary>
    public interface IBridgeLog
    {
        void Info(string message);

        void Warn(string message);
    }
}
