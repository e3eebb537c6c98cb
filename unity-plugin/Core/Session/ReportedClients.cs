#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Window;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Session
{
    /// <summary>An MCP client of the broker, by what it calls itself. Nothing is decided by it.</summary>
    /// <param name="Version">Empty when it gave none.</param>
    /// <param name="Transport">stdio or http.</param>
    /// <param name="Runs">The tool of its operation that this Editor has; null when it has none.</param>
    /// <param name="Waits">How many of its operations wait for this Editor in the broker.</param>
    public sealed record ReportedClient(string Name, string Version, string Transport, string? Runs = null, long Waits = 0);

    /// <summary>The MCP clients that were connected to the broker at one moment.</summary>
    /// <param name="Total">Those that are not named included.</param>
    public sealed record ClientReport(IReadOnlyList<ReportedClient> Clients, long Total)
    {
        public static readonly ClientReport None = new ClientReport(new ReportedClient[0], 0);
    }

    /// <summary>
    /// The last report of the worker (<c>bridge/clients</c>). It ends with the connection that it came on. Any thread.
    /// </summary>
    public sealed class ReportedClients
    {
        /// <summary>Of what the worker sends, however much it is.</summary>
        public const int MostClients = 32;
        public const int MostName = 64;
        public const int MostVersion = 32;

        private readonly object gate = new object();
        private ClientReport report = ClientReport.None;
        private int from;

        public ClientReport Now
        {
            get
            {
                lock (gate) return report;
            }
        }

        /// <summary>Replaces the report. Parameters that cannot be read change nothing.</summary>
        public void Take(int peer, JToken? parameters)
        {
            if (!((parameters as JObject)?["clients"] is JArray listed)) return;
            var clients = listed.Take(MostClients).Select(Read).OfType<ReportedClient>().ToArray();
            var total = parameters["total"] is JValue { Value: long all } ? all : 0;
            lock (gate)
            {
                report = new ClientReport(clients, Math.Max(total, clients.Length));
                from = peer;
            }
        }

        /// <summary>The connection is gone: nobody reports changes any more.</summary>
        public void Left(int peer)
        {
            lock (gate)
            {
                if (from == peer) report = ClientReport.None;
            }
        }

        private static ReportedClient? Read(JToken one)
        {
            if (!(one is JObject client) || !(Text(client["name"]) is { } name)) return null;
            var transport = Text(client["transport"]);
            if (transport != "stdio" && transport != "http") return null;
            var version = OneLine.Of(Text(client["version"]) ?? "", MostVersion);
            var runs = Text(client["runs"]) is { } tool ? OneLine.Of(tool, MostName) : null;
            var waits = client["waits"] is JValue { Value: long many } && many > 0 ? many : 0;
            return new ReportedClient(OneLine.Of(name, MostName), version, transport, runs, waits);
        }

        private static string? Text(JToken? value) => value is JValue { Value: string text } ? text : null;
    }
}
