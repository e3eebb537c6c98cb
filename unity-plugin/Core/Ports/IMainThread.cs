#nullable enable
namespace JobBroker.Bridge.Ports
{
    /// <summary>The Editor's main thread, on which alone Unity's API may be called.</summary>
    public interface IMainThread
    {
        /// <summary>True when the calling thread is the main thread.</summary>
        bool IsCurrent { get; }

        /// <summary>False when <see cref="Wake"/> cannot reach an Editor that has parked its loop.</summary>
        bool CanWake { get; }

        /// <summary>Asks for an early pump from any thread; an unfocused Editor ticks at 1 Hz or slower by itself.</summary>
        void Wake();
    }
}
