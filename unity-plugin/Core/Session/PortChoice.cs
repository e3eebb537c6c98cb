#nullable enable
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Wire;

namespace JobBroker.Bridge.Session
{
    /// <summary>
    /// The port that the bridge listens on. An Editor session keeps its port over domain reloads; one that another program
    /// took meanwhile is waited for, and given up for another after 10 s. A port that the user has set is never given up.
    /// Main thread only.
    /// </summary>
    internal sealed class PortChoice
    {
        private const int FirstPort = 8700;
        private const int LastPort = 8799;
        private const int GiveUpMs = 10_000;

        private readonly int? wanted;
        private readonly IClock clock;
        private readonly IBridgeLog log;
        private long? takenSince;

        /// <param name="wanted">The setting: null takes the first free one of 8700 to 8799, 0 any.</param>
        public PortChoice(int? wanted, IClock clock, IBridgeLog log)
        {
            this.wanted = wanted;
            this.clock = clock;
            this.log = log;
        }

        /// <summary>Listens; throws <see cref="PortTakenException"/> as long as there is no port to listen on.</summary>
        /// <param name="before">The port of this Editor session so far; 0 when it has none yet.</param>
        public void Listen(McpBridgeServer server, int before)
        {
            if (before == 0)
            {
                ListenAnew(server);
                return;
            }
            try
            {
                server.Listen(before);
                takenSince = null;
            }
            catch (PortTakenException) when (IsLost())
            {
                ListenAnew(server);
                takenSince = null;
                log.Warn($"Port {before} was taken by another program for too long; the bridge listens on {server.Port} now.");
            }
        }

        private bool IsLost()
        {
            takenSince ??= clock.ElapsedMs;
            return (wanted ?? 0) == 0 && clock.ElapsedMs - takenSince >= GiveUpMs;
        }

        private void ListenAnew(McpBridgeServer server)
        {
            if (wanted is { } port) server.Listen(port);
            else server.ListenOnFirstFree(FirstPort, LastPort);
        }
    }
}
