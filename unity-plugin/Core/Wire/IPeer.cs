#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Wire
{
    /// <summary>One connection as the bridge sees it. Every member may be called from any thread and never blocks.</summary>
    public interface IPeer
    {
        /// <summary>Different for each connection of this server.</summary>
        int Id { get; }

        /// <summary>Where this Editor listens as this connection reached it: `host:port`.</summary>
        string LocalAddress { get; }

        bool IsOpen { get; }

        /// <summary>It is no stranger: the clock for strangers stops, and no newcomer takes its place.</summary>
        void Admit();

        /// <summary>Queues a notification behind what was sent before; nothing happens when the connection is gone.</summary>
        void Notify(string method, JObject parameters);

        /// <summary>Closes once everything that was sent before is written.</summary>
        void Close();
    }
}
