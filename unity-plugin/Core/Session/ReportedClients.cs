#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Window;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Session
{
    /// <summary>An MCP client of the broker, by what it calls itself. Nothing is decided by it.</summary>
    public sealed class ReportedClient
    {
        public ReportedClient(string name, string version, string transport, string? runs = null, long waits = 0)
        {
            Name = name;
            Version = version;
            Transport = transport;
            Runs = runs;
            Waits = waits;
        }

        public string Name { get; }

        /// <summary>Empty when it gave none.</summary>
        public string Version { get; }

        /// <summary>stdio or http.</summary>
        public string Transport { get; }

        /// <summary>The tool of its operation that this Editor has; null when it has none.</summary>
        public string? Runs { get; }

        /// <summary>How many of its operations wait for this Editor in the broker.</summary>
        public long Waits { get; }
    }

    /// <summary>The MCP clients that were connected to the broker at one moment; never changes.</summary>
    public sealed class ClientReport
    {
        public static readonly ClientReport None = new ClientReport(new ReportedClient[0], 0);

        public ClientReport(IReadOnlyList<ReportedClient> clients, long total)
        {
            Clients = clients;
            Total = total;
        }

        public IReadOnlyList<ReportedClient> Clients { get; }

        /// <summary>Those that are not named included.</summary>
        public long Total { get; }
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
