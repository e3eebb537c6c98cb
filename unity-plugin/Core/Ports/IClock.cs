#nullable enable
namespace JobBroker.Bridge.Ports
{
    /// <summary>Time as the bridge reads it. Every member may be called from any thread.</summary>
    public interface IClock
    {
        /// <summary>Wall clock, milliseconds since the Unix epoch.</summary>
        long NowMs { get; }

        /// <summary>Monotonic milliseconds from an arbitrary start: for ages and deadlines.</summary>
        long ElapsedMs { get; }
    }
}
