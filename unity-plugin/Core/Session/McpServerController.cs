#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;
using JobBroker.Bridge.Wire;

namespace JobBroker.Bridge.Session
{
    /// <summary>
    /// The bridge as an adapter drives it: start, stop, pump, the end of a script domain, the end of the
    /// Editor.
    /// Main thread only, but for <see cref="Status"/>. No member throws: errors are reported in <see
    /// cref="BridgeStatus.LastError"/>.
    /// </summary>
    public sealed class McpServerController
    {
        private const string WantedKey = "JobBroker.Wanted";

        /// <summary>Whether this Editor session has had the ledger ("1"), or found it another process's ("0").</summary>
        private const string OwnerKey = "JobBroker.OwnsLedger";

        private const string LogKey = "JobBroker.CommunicationLog";
        private const int RelistenMs = 100;
        private const int ReopenMs = 1000;

        private readonly BridgePorts ports;
        private readonly BridgeOptions options;
        private readonly IReadOnlyList<Type> toolClasses;
        private BridgeRuntime? runtime;
        private BridgeThread? sockets;
        private TickPump? ticks;
        private volatile string? lastError;
        private bool wanted;
        private bool isForeign;
        private bool ended;
        private long triedAt;

        public McpServerController(BridgePorts ports, BridgeOptions options, IReadOnlyList<Type> toolClasses)
        {
            this.ports = ports;
            this.options = options;
            this.toolClasses = toolClasses;
            Log = new McpCommunicationLog(ports.Services.Clock);
            Log.Restore(ports.SessionStore.Get(LogKey));
        }

        public bool IsRunning => runtime?.Listening ?? false;

        /// <summary>The tools of this script domain; null before the first start.</summary>
        public UnityToolRegistry? Tools => runtime?.Tools;

        /// <summary>The newest requests and answers; the latest of them outlive a domain reload.</summary>
        public McpCommunicationLog Log { get; }

        /// <summary>For faults and status of a stand-in host; null before the first start.</summary>
        internal OperationLedger? Ledger => runtime?.Ledger;

        /// <summary>
        /// Starts the bridge if it ran before the domain reload, or, with <paramref name="autoStart"/>, in a new Editor
        /// session.
        /// </summary>
        public void StartIfWanted(bool autoStart)
        {
            var before = ports.SessionStore.Get(WantedKey);
            if (ports.SessionStore.Get(OwnerKey) == "0")
            {
                lastError = "Another process of this project had its ledger when this one began. " + StaysOff;
                return;
            }
            if (before == "1" || (before == null && autoStart)) Start();
        }

        /// <summary>
        /// Opens the ledger and listens. The pump retries a port that is taken, and a ledger that cannot be opened; but not
        /// one that another process has, unless this Editor session has had it before.
        /// </summary>
        public void Start()
        {
            if (ended) return;
            wanted = true;
            isForeign = false;
            ports.SessionStore.Set(WantedKey, "1");
            TryToListen();
        }

        /// <summary>Stops listening, also after a domain reload; operations continue.</summary>
        public void Stop()
        {
            wanted = false;
            ports.SessionStore.Set(WantedKey, "0");
            runtime?.StopListening();
        }

        /// <summary>Runs the main lane; called with every tick of the Editor.</summary>
        public void Pump()
        {
            if (ended) return;
            var pause = runtime == null ? ReopenMs : RelistenMs;
            if (wanted && !isForeign && !IsRunning && ports.Services.Clock.ElapsedMs - triedAt >= pause) TryToListen();
            runtime?.Pump();
        }

        /// <summary>The script domain ends: no thread of the bridge is alive when this returns true.</summary>
        public bool BeforeReload()
        {
            var inTime = End(runtime => runtime.CloseForReload());
            ports.SessionStore.Set(LogKey, Log.Save());
            return inTime;
        }

        /// <summary>The Editor quits; returns the same as <see cref="BeforeReload"/>.</summary>
        public bool Quit() => End(runtime => runtime.CloseForQuit());

        /// <summary>Lets another broker's store take over this Editor, on a person's request.</summary>
        public void HandOver() => runtime?.HandOver();

        /// <summary>Fault of a stand-in host: cuts every connection.</summary>
        internal void DropConnections() => runtime?.DropConnections();

        /// <summary>The bridge as it is now. Any thread.</summary>
        public BridgeStatus Status()
        {
            var live = runtime;
            if (live == null)
            {
                return new BridgeStatus
                {
                    LastError = lastError,
                    Phase = ports.Services.Editor.Phase,
                    Labels = ports.Services.Editor.Labels,
                };
            }
            return new BridgeStatus
            {
                Running = live.Listening,
                LastError = lastError ?? live.Ledger.Problem,
                EditorId = live.Session.EditorId,
                EditorSessionId = live.Session.EditorSessionId,
                Generation = live.Session.Generation,
                Port = live.Session.Port,
                Phase = live.Phase(),
                Labels = ports.Services.Editor.Labels,
                WorkerConnected = live.WorkerConnected,
                Worker = live.Session.Worker,
                Clients = live.Session.Clients(),
                McpClients = live.Session.McpClients.Now,
                Queue = live.Queue.Snapshot().Select(QueuedOf).ToList(),
                RunningOperation = RunningOf(live),
                BoundStore = live.Ledger.BoundStore?.StoreId,
                LedgerId = live.Ledger.LedgerId,
                LedgerSeq = live.Ledger.LedgerSeq,
                StallMs = live.StallMs,
            };
        }

        /// <summary>What a person does about a ledger that another process has.</summary>
        private string StaysOff => "The bridge of this process stays off, also once that one has ended: close that one, then "
            + (ports.Services.Security.Current.IsBatch ? "start this Editor again." : "click Start in Window > Unity Job Broker.");

        private void TryToListen()
        {
            triedAt = ports.Services.Clock.ElapsedMs;
            try
            {
                // Beside the ledger, which has to be open before anything listens.
                sockets ??= BridgeThread.Start("sockets", LoopbackListener.Prepare, _ => { });
                // Before the ledger as well, whose opening may need another try with a later tick.
                ticks ??= new TickPump(ports.Services.MainThread, ports.Services.Clock, CannotTick);
                runtime ??= new BridgeRuntime(ports, options, toolClasses, Log, ticks);
                ports.SessionStore.Set(OwnerKey, "1");
                runtime.Listen();
                lastError = null;
            }
            catch (LedgerInUseException error)
            {
                isForeign = ports.SessionStore.Get(OwnerKey) != "1";
                if (isForeign) ports.SessionStore.Set(OwnerKey, "0");
                Failed(isForeign ? error.Message + " " + StaysOff : error.Message);
            }
            catch (LedgerUnavailableException error)
            {
                Failed(error.Message);
            }
            catch (PortTakenException error)
            {
                Failed(error.Message);
            }
            catch (Exception error)
            {
                Failed("The bridge could not start: " + error);
            }
        }

        private void Failed(string message)
        {
            if (message != lastError) ports.Log.Warn(message);
            lastError = message;
        }

        private void CannotTick(Exception error) =>
            ports.Log.Warn("The Editor cannot be kept ticking: click into its window when a call takes long. " + error);

        private bool End(Func<BridgeRuntime, bool> close)
        {
            if (ended) return true;
            ended = true;
            wanted = false;
            var inTime = ticks == null || ticks.Stop(options.StopMs);
            inTime &= runtime == null || close(runtime);
            if (sockets != null) inTime &= sockets.Join(options.StopMs);
            if (!inTime) ports.Log.Warn("A thread of the bridge did not end in time.");
            return inTime;
        }

        private static QueuedStatus QueuedOf(Execution.QueuedOperation item) =>
            new QueuedStatus(item.Operation.OperationId, item.Tool.Name);

        private static RunningStatus? RunningOf(BridgeRuntime live)
        {
            var running = live.Engine.Current;
            if (running == null) return null;
            var progress = live.ProgressOf(running.OperationId);
            return new RunningStatus(
                running.OperationId,
                running.Tool ?? "",
                running.StartedAt ?? 0,
                (double?)progress?["progress"],
                (double?)progress?["total"],
                (string?)progress?["message"]);
        }
    }
}
