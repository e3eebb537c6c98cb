#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// One connection as the bridge sees it. Every member may be called from any thread and never blocks.
    /// </summary>
    public interface IPeer
    {
        /// <summary>Different for each connection of this server.</summary>
        int Id { get; }

        /// <summary>The local address of this connection: `host:port`.</summary>
        string LocalAddress { get; }

        bool IsOpen { get; }

        /// <summary>Marks the peer as proven: its time limit ends, and no new connection replaces it.</summary>
        void Admit();

        /// <summary>Queues a notification; does nothing when the connection is gone.</summary>
        void Notify(string method, JObject parameters);

        /// <summary>Closes once everything that was sent before is written.</summary>
        void Close();
    }
}
