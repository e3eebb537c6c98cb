#nullable enable
using System;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Ports
{
    /// <summary>Waits for the Editor without blocking it. Main thread only; a domain reload forgets every wait.</summary>
    public interface ITicks
    {
        /// <summary>
        /// Ends with the first tick of the Editor on which the condition holds, with true; with false once the time is over.
        /// </summary>
        Task<bool> WhenAsync(Func<bool> condition, long milliseconds, CancellationToken cancellation);
    }
}
