#nullable enable
namespace JobBroker.Bridge.Ports
{
    /// <summary>The Editor's main thread, on which alone Unity's API may be called.</summary>
    public interface IMainThread
    {
        /// <summary>True when the calling thread is the main thread.</summary>
        bool IsCurrent { get; }

        /// <summary>Asks for an early pump from any thread; an unfocused Editor ticks at 1 Hz or slower by itself.</summary>
        void Wake();
    }
}
