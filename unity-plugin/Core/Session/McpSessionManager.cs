#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Session
{
    /// <summary>A connected client as people see it.</summary>
    public sealed class ConnectedClient
    {
        public ConnectedClient(string name, long lastHeardMs)
        {
            Name = name;
            LastHeardMs = lastHeardMs;
        }

        public string Name { get; }

        /// <summary>Milliseconds since the Unix epoch.</summary>
        public long LastHeardMs { get; }
    }

    /// <summary>
    /// One Editor session: its id, generation, port, token and clients. The session store keeps it over domain
    /// reloads; created and saved on the main thread, read and updated from any.
    /// </summary>
    public sealed class McpSessionManager
    {
        /// <summary>The id that this Editor session began with.</summary>
        public const string EditorIdKey = "JobBroker.EditorId";

        private const string SessionKey = "JobBroker.Session";
        private const string GenerationKey = "JobBroker.Generation";
        private const string PortKey = "JobBroker.Port";
        private const string TokenKey = "JobBroker.Token";
        private const string PushEndpointKey = "JobBroker.PushEndpoint";
        private const string PushSecretKey = "JobBroker.PushKey";
        private const string CarriedKey = "JobBroker.CarriedLedger";

        private readonly object gate = new object();
        private readonly ISessionStore store;
        private readonly IClock clock;
        private readonly Dictionary<int, ConnectedClient> clients = new Dictionary<int, ConnectedClient>();
        private volatile string? worker;
        private volatile bool quitting;

        /// <summary>Restores the current Editor session, or creates a new one. Main thread only.</summary>
        public McpSessionManager(ISessionStore store, IClock clock, IEditorInfo editor, string editorId, string newToken)
        {
            this.store = store;
            this.clock = clock;
            Editor = editor;
            EditorId = editorId;
            // Known before the start succeeds: another attempt goes on with the session that the ledger may have.
            EditorSessionId = store.Get(SessionKey) ?? Guid.NewGuid().ToString("D");
            store.Set(SessionKey, EditorSessionId);
            IsNew = store.Get(GenerationKey) == null;
            Generation = IsNew ? 0 : Number(GenerationKey) + 1;
            var token = store.Get(TokenKey);
            Token = string.IsNullOrEmpty(token) ? newToken : token!;
            Port = Number(PortKey);
            PushEndpoint = store.Get(PushEndpointKey);
            PushKey = store.Get(PushSecretKey);
        }

        public IEditorInfo Editor { get; }

        public string EditorId { get; }

        public string EditorSessionId { get; }

        /// <summary>True in the first script domain of an Editor process.</summary>
        public bool IsNew { get; }

        /// <summary>Grows by one with every domain reload.</summary>
        public int Generation { get; }

        public string Token { get; }

        /// <summary>The port of this Editor session; 0 before it ever listened.</summary>
        public int Port { get; private set; }

        public string Version => Editor.UnityVersion;

        /// <summary>The push endpoint; null until a worker announces one.</summary>
        public string? PushEndpoint { get; private set; }

        /// <summary>The secret that the worker expects with the first push.</summary>
        public string? PushKey { get; private set; }

        /// <summary>The MCP clients that are connected to the broker, for people.</summary>
        public ReportedClients McpClients { get; } = new ReportedClients();

        /// <summary>The broker that said hello last, for people; null before the first.</summary>
        public string? Worker => worker;

        public bool IsQuitting
        {
            get => quitting;
            set => quitting = value;
        }

        /// <summary>
        /// Persists the session's identity over a domain reload. Called once the ledger is recovered, because a session
        /// that failed before must not be mistaken for one that a reload interrupted. Main thread only.
        /// </summary>
        public void SaveIdentity()
        {
            store.Set(EditorIdKey, EditorId);
            store.Set(GenerationKey, Generation.ToString(CultureInfo.InvariantCulture));
            store.Set(TokenKey, Token);
        }

        /// <summary>The port never changes in one Editor session. Main thread only.</summary>
        public void SetPort(int port)
        {
            Port = port;
            store.Set(PortKey, port.ToString(CultureInfo.InvariantCulture));
        }

        /// <summary>The Editor's session, generation and asset counter as JSON of the wire. Any thread.</summary>
        public JObject Standing() => new JObject
        {
            ["editorSessionId"] = EditorSessionId,
            ["generation"] = Generation,
            ["assetCounter"] = Editor.AssetCounter,
        };

        /// <summary>
        /// What the script domain before could not write into the ledger; null as a rule. Main thread only.
        /// </summary>
        public string? CarriedLedger
        {
            get => store.Get(CarriedKey);
            set => store.Set(CarriedKey, value);
        }

        /// <summary>Persists the state that the next script domain needs. Main thread only.</summary>
        public void Save()
        {
            lock (gate)
            {
                store.Set(PushEndpointKey, PushEndpoint);
                store.Set(PushSecretKey, PushKey);
            }
        }

        /// <summary>Sets the push endpoint; persisted by <see cref="Save"/>. Any thread.</summary>
        public void SetPushEndpoint(string endpoint, string? key)
        {
            lock (gate)
            {
                PushEndpoint = endpoint;
                PushKey = key;
            }
        }

        public void WorkerConnected(string? brokerId, string? version) =>
            worker = string.Join(" ", new[] { brokerId, version }.Where(word => !string.IsNullOrEmpty(word)));

        public void MessageReceived(int peer)
        {
            lock (gate)
            {
                var name = clients.TryGetValue(peer, out var client) ? client.Name : "";
                clients[peer] = new ConnectedClient(name, clock.NowMs);
            }
        }

        public void SetClientName(int peer, string name)
        {
            lock (gate) clients[peer] = new ConnectedClient(name, clock.NowMs);
        }

        public void Disconnected(int peer)
        {
            lock (gate) clients.Remove(peer);
            McpClients.Left(peer);
        }

        /// <summary>The name that a client announced, or one derived from its connection.</summary>
        public string NameOf(int peer)
        {
            lock (gate)
            {
                return clients.TryGetValue(peer, out var client) && client.Name.Length > 0
                    ? client.Name
                    : "connection-" + peer.ToString(CultureInfo.InvariantCulture);
            }
        }

        public IReadOnlyList<ConnectedClient> Clients()
        {
            lock (gate) return clients.Values.ToArray();
        }

        private int Number(string key) =>
            int.TryParse(store.Get(key), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;
    }
}
