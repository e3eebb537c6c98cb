#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using JobBroker.Bridge.Api;
using JobBroker.Bridge.Endpoint;
using JobBroker.Bridge.Execution;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Push;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Session
{
    /// <summary>
    /// Assembles the parts of the bridge that live in one script domain: ledger, engine, server. Opened and closed on
    /// the main thread; nothing of it outlives <see cref="Close"/>.
    /// </summary>
    internal sealed class BridgeRuntime
    {
        private readonly BridgePorts ports;
        private readonly ToolServices services;
        private readonly BridgeOptions options;
        private readonly MainThreadMonitor mainThread;
        private readonly TickPump ticks;
        private readonly OwnPlay ownPlay;
        private readonly WorkerSeat seat;
        private readonly Handshake hello;
        private readonly FenceGate fence;
        private readonly ConsoleBuffer logs;
        private readonly EndpointRegistry endpoint;
        private readonly McpBridgeServer server;
        private readonly PortChoice port;
        private readonly UnityPushClient push;
        private readonly ProgressBoard progress;
        private readonly Settlement settlement;
        private readonly HeartbeatReport heartbeatReport;
        private readonly HeartbeatThread heartbeat;
        private readonly Func<LedgerOperation, JObject> describeOutcome;
        private volatile bool reloading;
        private string? saidProblem;

        /// <summary>Opens the ledger and recovers what was left open; nothing listens yet.</summary>
        public BridgeRuntime(
            BridgePorts ports, BridgeOptions options, IReadOnlyList<Type> toolClasses, McpCommunicationLog log, TickPump ticks)
        {
            this.ticks = ticks;
            this.ports = ports;
            services = ports.Services;
            this.options = options;
            seat = new WorkerSeat(services.Clock);
            var identity = Identity();
            var editorId = identity.EditorId;
            Session = new McpSessionManager(
                ports.SessionStore,
                services.Clock,
                services.Editor,
                editorId,
                string.IsNullOrEmpty(options.Token) ? EndpointRegistry.NewToken() : options.Token!);
            var folders = new StateFolders(options, editorId);
            folders.RestrictToUser();
            Ledger = OperationLedger.Open(options.ForLedger(folders.Ledger, Session.CarriedLedger), services.Clock);
            // A later script domain must not take it for newer than what is written from here on.
            Session.CarriedLedger = null;
            foreach (var notice in Ledger.Notices) ports.Log.Warn(notice);
            mainThread = new MainThreadMonitor(services.Clock);
            ownPlay = new OwnPlay(services.PlayMode, ports.SessionStore);
            logs = new ConsoleBuffer(services.Console, ports.SessionStore);
            logs.Refresh(services.Clock.NowMs);
            services.Logs = logs;
            Tools = new UnityToolRegistry(services, toolClasses, ports.Log.Warn, ports.PackageOf);
            Tools.ShowDevelopmentOnly(services.Security.Current.IsDevelopment);
            if (ToolConsent.Unknown(services.Security.Current, Tools.All()) is { } unknown) ports.Log.Warn(unknown);
            var security = new McpSecurityChecker(Tools, services.Security);
            var cancellations = new CancellationRegistry();
            progress = new ProgressBoard(
                services.Clock,
                options.ProgressIntervalMs,
                json => Notify("operation/progress", json),
                Crashed,
                new LineOutlet(() => seat.TakesLog, json => Notify("operation/log", json)));
            settlement = new Settlement(Ledger);
            var beginning = new Beginning(Ledger, settlement, security.Refusal, NotifyRunning, services.Clock);
            var resumeRecords = new ResumeRecords(ports.SessionStore);
            var calls = new ToolCalls(
                cancellations, progress, resumeRecords, services.Clock, services.MainThread, Session.Standing);
            var executor = new Executor(beginning, calls, settlement);
            var readiness = new ReadinessWait(() => services.Editor.Phase, progress, services.Clock);
            var main = new MainLane(Queue, executor, readiness, services.Clock, ticks);
            Engine = new ExecutionEngine(Queue, main, new BackgroundLane(Queue, executor, Crashed), calls, settlement);
            var wire = new WireJson(Ledger, options.InlineResultBytes);
            describeOutcome = wire.OutcomeOf;
            var operations = new OperationMethods
            {
                Ledger = Ledger,
                Engine = Engine,
                Settlement = settlement,
                Queue = Queue,
                Cancellations = cancellations,
                Progress = progress,
                Tools = Tools,
                Security = security,
                Wire = wire,
                Clock = services.Clock,
                LongestPart = options.InlineResultBytes,
            };
            var plain = new PlainSurface(Ledger, operations, Tools, security, services.Clock);
            settlement.Ended += NotifyFinished;
            settlement.Ended += plain.Ended;
            fence = new FenceGate(Ledger, seat, options.ForeignSilenceMs);
            var door = new Door(Session.Token);
            push = new UnityPushClient(services.Clock, ports.Log);
            hello = new Handshake(fence, Ledger, Tools, Session, Phase, options.HeartbeatMs, NotifyUnacknowledged);
            var handler = new UnityApiHandler
            {
                Door = door,
                Handshake = hello,
                Fence = fence,
                Seat = seat,
                Operations = operations,
                PlainCalls = plain,
                Tools = Tools,
                Push = push,
                Session = Session,
                IsPlainSurface = () => options.PlainSurface,
            };
            var logged = new LoggedRequests(handler, log, Session.NameOf);
            var limits = new WireLimits { FrameBytes = options.MaxFrameBytes, StrangerMs = options.StrangerMs };
            server = new McpBridgeServer(logged, limits, ports.Log, () => options.PlainSurface);
            port = new PortChoice(options.Port, services.Clock, ports.Log);
            endpoint = new EndpointRegistry(folders.Editors, identity, ports.Log);
            heartbeatReport = new HeartbeatReport(Session, Engine, Queue, mainThread, Phase);
            heartbeat = new HeartbeatThread(options.HeartbeatMs, Beat, ports.Log);
            Tools.Changed += NotifyToolsChanged;
            services.Console.LineWritten += Log;
            try
            {
                new ReloadCoordinator(Ledger, Engine, settlement, Tools, Session, services.Clock).Recover();
                Session.SaveIdentity();
            }
            catch
            {
                Close(true);
                throw;
            }
        }

        public McpSessionManager Session { get; }

        public OperationLedger Ledger { get; }

        public UnityToolRegistry Tools { get; }

        public OperationQueue Queue { get; } = new OperationQueue();

        public ExecutionEngine Engine { get; }

        public bool Listening { get; private set; }

        public bool WorkerConnected => seat.IsHeld;

        public long StallMs => mainThread.StallMs;

        public JObject? ProgressOf(string operationId) => progress.Last(operationId);

        /// <summary>The Editor's phase, reloading and quitting included. Any thread.</summary>
        public string Phase() => reloading ? "reloading" : Session.IsQuitting ? "quitting" : services.Editor.Phase;

        public void HandOver() => fence.HandOver();

        /// <summary>Listens, see <see cref="PortChoice"/>; throws <see cref="PortTakenException"/> when it cannot.</summary>
        public void Listen()
        {
            if (Listening) return;
            port.Listen(server, Session.Port);
            Session.SetPort(server.Port);
            Listening = true;
            WriteEndpoint();
            if (Session.PushEndpoint is { } known) push.ConnectTo(known, Session.PushKey);
            if (!Session.IsNew) push.Push(PushTypes.DomainReloadRecovered, Generation);
        }

        /// <summary>
        /// Stops the server on a person's request; operations continue, and their outcomes stay in the ledger.
        /// </summary>
        public void StopListening()
        {
            if (!Listening) return;
            server.Broadcast("notifications/server/shutdown", new JObject { ["reason"] = "stopped" });
            push.Push(PushTypes.UserDisconnect);
            endpoint.Remove();
            server.Stop(options.StopMs);
            Listening = false;
        }

        public void DropConnections() => server.DropConnections();

        public void Pump()
        {
            mainThread.Tick();
            logs.Refresh(services.Clock.NowMs);
            Tools.ShowDevelopmentOnly(services.Security.Current.IsDevelopment);
            hello.SayAgainIfOutdated(seat);
            Engine.Pump();
            var isBusy = Engine.IsBusy;
            ticks.Look(ownPlay.Lasts(isBusy) || isBusy || Readiness.WorkOf(services.Editor.Phase) != null);
            mainThread.Tick();
        }

        /// <summary>The script domain ends; false when a thread did not end in time.</summary>
        public bool CloseForReload()
        {
            push.Push(PushTypes.DomainReload, Generation);
            logs.SaveTo(ports.SessionStore);
            reloading = true;
            Session.Save();
            WriteEndpoint();
            return Close(false);
        }

        /// <summary>The Editor quits; false when a thread did not end in time.</summary>
        public bool CloseForQuit()
        {
            Session.IsQuitting = true;
            server.Broadcast("notifications/server/shutdown", new JObject { ["reason"] = "editor_quit" });
            push.Push(PushTypes.UnityShutdown, new JObject { ["reason"] = "editor_quit" });
            endpoint.Remove();
            return Close(true);
        }

        private bool Close(bool quitting)
        {
            Tools.Changed -= NotifyToolsChanged;
            services.Console.LineWritten -= Log;
            // Sockets first: outcomes that are not delivered now are reported after the next hello.
            var inTime = server.Stop(options.StopMs);
            inTime &= Engine.Stop(options.StopMs);
            inTime &= heartbeat.Stop(options.StopMs);
            push.Close(quitting);
            inTime &= push.Stop(options.StopMs);
            heartbeatReport.Dispose();
            logs.Dispose();
            if (quitting) Ledger.Release();
            var carried = Ledger.Close();
            // Only for the next script domain: a released folder may be another process's before this one tries again.
            if (!quitting) Session.CarriedLedger = carried;
            Listening = false;
            return inTime;
        }

        /// <summary>An Editor session keeps its id: another one would be another Editor, without what this one has accepted.</summary>
        private EditorIdentity Identity()
        {
            var project = services.Editor.ProjectPath;
            var known = options.EditorId ?? ports.SessionStore.Get(McpSessionManager.EditorIdKey);
            if (known != null) return EditorIdentity.Of(project, "").WithId(known);
            try
            {
                return EditorIdentity.Of(project, MachineName.Of(options.StateFolder, Dns.GetHostName()));
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new LedgerUnavailableException(
                    $"The name of this machine, which is part of this Editor's id, can be neither read nor kept in {options.StateFolder}: "
                    + $"{error.Message} Give that folder to this user; the bridge tries again by itself.",
                    error);
            }
        }

        private void WriteEndpoint() => endpoint.Write(new EndpointRecord(
            services.Editor.ProcessId,
            services.Editor.ProcessStartedAtMs,
            server.Port,
            Session.Token,
            services.Editor.UnityVersion,
            Phase()));

        private void Beat()
        {
            Notify("bridge/heartbeat", heartbeatReport.Create());
            // Behind the report, as a slow disk holds these up.
            SayProblem();
            Ledger.Heal();
            endpoint.Restore();
        }

        private void SayProblem()
        {
            var problem = Ledger.Problem;
            if (problem == saidProblem) return;
            saidProblem = problem;
            if (problem == null) ports.Log.Info("The ledger can be written again.");
            else ports.Log.Warn(problem);
        }

        private void Log(ConsoleLine line)
        {
            if (Engine.Current is { } operation) progress.Log(operation.OperationId, line);
        }

        private void Notify(string method, JObject parameters)
        {
            parameters["ledgerSeq"] = Ledger.LedgerSeq;
            seat.Notify(method, parameters);
        }

        private void NotifyRunning(LedgerOperation operation) =>
            Notify("operation/running", new JObject { ["operationId"] = operation.OperationId });

        private void NotifyFinished(LedgerOperation operation) => Notify("operation/finished", new JObject
        {
            ["operationId"] = operation.OperationId,
            ["outcome"] = describeOutcome(operation),
        });

        private void NotifyUnacknowledged()
        {
            foreach (var operation in Ledger.Unacknowledged().ToList()) NotifyFinished(operation);
        }

        private void NotifyToolsChanged()
        {
            server.Broadcast("notifications/tools/list_changed", new JObject());
            push.Push(PushTypes.ToolsChanged, () => new JObject { ["toolsHash"] = Tools.Hash() });
        }

        private JObject Generation() => new JObject { ["generation"] = Session.Generation };

        private void Crashed(Exception error) => ports.Log.Warn("A thread of the bridge ended: " + error);
    }
}
