/** One Editor process from start to end: everything that dies with it. */

import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { type ClientIdentity, clientIdentity } from "../../shared/principal.js";
import { ClientsNotice } from "../../shared/wire/clients-notice.js";
import type { LedgerState } from "../../shared/wire/wire.js";
import { createExecutions } from "../execution.js";
import type { Identity } from "../identity.js";
import { createLanes } from "../lanes.js";
import type { CounterFile } from "../ledger/counter-file.js";
import type { LedgerOperation } from "../ledger/journal-entry.js";
import { openLedger } from "../ledger/ledger.js";
import { createOperations } from "../operation-methods.js";
import type { SimulatorSettings } from "../options.js";
import { createLargeResults } from "../results/large-results.js";
import { createTimers } from "../timers.js";
import type { ToolTable } from "../tools.js";
import { createWorld, restingPhase } from "../world.js";
import { createAdmission } from "./admission.js";
import { createBridge } from "./bridge.js";
import { createHello } from "./hello.js";
import { createPushClient } from "./push-client.js";
import { createTcpServer, type Peer } from "./tcp-server.js";
import { createUloopBridge } from "./uloop-bridge.js";
import { createUloopSurface } from "./uloop-surface.js";
import type { WireFaults } from "./wire-faults.js";
import { createWorkerSeat } from "./worker-seat.js";

/** The MCP clients that the worker named last, as a window would list them. */
export interface ListedClient extends ClientIdentity {
  transport: "stdio" | "http";
  /** The tool that it runs here. */
  runs?: string;
  /** How many of its operations wait. */
  waits?: number;
}

export interface ClientList {
  /** Replaces the list. What cannot be read changes nothing. */
  take(from: Peer, params: unknown): void;
  /** Nobody says any more when this list changes. */
  left(peer: Peer): void;
  /** Undefined: nobody named any. */
  shown(): { clients: readonly ListedClient[]; total: number } | undefined;
}

/** Whatever the worker says. */
const MOST_LISTED = 32;

function createClientList(): ClientList {
  let from: Peer | undefined;
  let shown: ReturnType<ClientList["shown"]>;
  return {
    take(peer, params) {
      const read = ClientsNotice.safeParse(params);
      if (!read.success) return;
      const { clients, total } = read.data;
      from = peer;
      const listed = clients.slice(0, MOST_LISTED);
      shown = {
        clients: listed.map(({ transport, runs, waits, ...named }) => ({
          ...clientIdentity(named),
          transport,
          ...(runs === undefined ? {} : { runs }),
          ...(waits === undefined ? {} : { waits }),
        })),
        total: Math.max(total, clients.length),
      };
    },
    left(peer) {
      if (peer === from) shown = undefined;
    },
    shown: () => shown,
  };
}

export interface SessionDeps {
  identity: Identity;
  tools: ToolTable;
  counter: CounterFile;
  faults: WireFaults;
  ledgerFile: string;
  token: string;
}

const RELISTEN_MS = 50;

export type EditorSession = ReturnType<typeof startEditorSession>;

/** Opens the ledger and recovers the operations of the last process; does not listen yet. */
export function startEditorSession(deps: SessionDeps, settings: SimulatorSettings) {
  const editorSessionId = randomUUID();
  const timers = createTimers();
  const now = Date.now;
  const elapsed = (): number => performance.now();
  const world = createWorld(now, deps.identity.projectPath);
  const ledger = openLedger({
    file: deps.ledgerFile,
    now,
    forgetAfterMs: settings.forgetAfterMs,
    keepOperations: settings.keepOperations,
    healMs: settings.ledgerHealMs,
    ...(settings.ledgerFiles === undefined ? {} : { files: settings.ledgerFiles }),
  });
  const lanes = createLanes({ timers, now: elapsed });
  const seat = createWorkerSeat(elapsed);
  const push = createPushClient({ now });
  const results = createLargeResults({ inlineResultBytes: settings.inlineResultBytes });
  const notify = (method: string, params: object): void =>
    seat.notify(method, { ...params, ledgerSeq: ledger.ledgerSeq() });
  const tellFinished = ({ operationId, outcome }: LedgerOperation): void => {
    if (outcome) notify("operation/finished", { operationId, outcome: results.inFrame(outcome) });
  };

  const executions = createExecutions(
    {
      ledger,
      lanes,
      tools: deps.tools,
      results,
      world,
      counter: deps.counter,
      timers,
      now,
      notify,
      takesLog: seat.takesLog,
      standing: () => ({
        editorSessionId,
        generation: world.generation,
        assetCounter: world.assetCounter,
      }),
      ended(operation, outcome) {
        tellFinished(operation);
        plain.ended(operation, outcome);
      },
      reload: () => reload(settings.reloadMs),
    },
    { timeScale: settings.timeScale, progressIntervalMs: settings.progressIntervalMs },
  );
  const securityRefusal = (tool: string): string | undefined =>
    settings.deniedTools.includes(tool) ? `${tool} is off in this Editor's security settings.` : undefined;
  const operations = createOperations({
    ledger,
    executions,
    lanes,
    tools: deps.tools,
    results,
    now,
    securityRefusal,
  });
  const plain = createUloopSurface({ ledger, operations, tools: deps.tools, results, now, securityRefusal });
  const admission = createAdmission(deps.token);
  const hello = createHello(
    {
      identity: deps.identity,
      editorSessionId,
      admission: admission,
      ledger,
      seat,
      tools: deps.tools,
      world,
      tellUnacknowledged: () => ledger.unacknowledged().forEach(tellFinished),
    },
    {
      heartbeatMs: settings.heartbeatMs,
      logFile: settings.logFile,
      labels: settings.labels,
      foreignSilenceMs: settings.foreignSilenceMs,
    },
  );
  const bridge = createBridge(
    { admission: admission, hello, operations, plain, push, seat, tools: deps.tools, world },
    { version: deps.identity.unityVersion, plainSurface: settings.plainSurface },
  );
  const plainBridge = createUloopBridge({
    tools: deps.tools,
    world,
    lanes,
    counter: deps.counter,
    push,
    projectPath: deps.identity.projectPath,
    now,
    pass: (seconds) => pause(seconds * settings.timeScale * 1000),
    requestReload: () => void reload(settings.reloadMs),
    securityRefusal,
  });
  const surface = settings.plain ? plainBridge : bridge;
  const strangerMs = settings.plain || settings.plainSurface ? undefined : settings.strangerMs;
  const clientList = createClientList();
  const server = createTcpServer(
    {
      timers,
      faults: deps.faults,
      handle: surface.handle,
      notified(peer, method, params) {
        // A plain bridge ignores this message; the plain simulator keeps it, so that a test can see that it arrived.
        const isHeard = settings.plain || seat.holds(peer);
        if (method === "bridge/clients" && isHeard) clientList.take(peer, params);
      },
      closed(peer) {
        clientList.left(peer);
        surface.closed(peer);
      },
    },
    { maxFrameBytes: settings.maxFrameBytes, breaksOnTooLong: settings.plain, strangerMs },
  );

  const recover = (cause: RecoveryCause): void => {
    const open = ledger.open().map(({ operationId, state, readOnly, tool }) => ({
      operationId,
      state,
      readOnly,
      resumable: deps.tools.get(tool ?? "")?.resumable ?? false,
    }));
    for (const step of planRecovery(cause, open)) {
      const operation = ledger.get(step.operationId);
      if (!operation) continue;
      if (step.action === "requeue") executions.queue(operation);
      if (step.action === "not_started") ledger.markNotStarted(operation);
      if (step.action === "forget") executions.abandon(step.operationId);
      if (step.action !== "interrupt") continue;
      executions.abandon(step.operationId);
      executions.settle(operation, {
        status: "interrupted",
        error: { type: step.reason, message: `The Editor lost this operation (${step.reason}); it began.` },
        ...(operation.startedAt === undefined ? {} : { startedAt: operation.startedAt }),
        endedAt: now(),
      });
    }
    ledger.dropReads();
  };

  /** The port of a process never changes, but another program may hold it for a moment after a reload. */
  const listenAgain = async (port: number): Promise<void> => {
    while (!ended) {
      const failed = await server.listen(port).then(
        () => false,
        () => true,
      );
      // The Editor may have ended while the port was being bound.
      if (!failed) return ended ? server.stop() : undefined;
      await pause(RELISTEN_MS);
    }
  };
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      timers.onClose(resolve);
      timers.after(ms, resolve);
    });

  let ended = false;
  const reload = async (downMs: number): Promise<void> => {
    if (ended || world.phase === "reloading") return;
    push.push("DOMAIN_RELOAD", { generation: world.generation });
    world.phase = "reloading";
    if (settings.plain) server.broadcast("notifications/server/shutdown", { reason: "DomainReload" });
    push.drop();
    lanes.setPaused(true);
    lanes.clearQueues();
    // Close sockets first: outcomes that a reload causes are reported after the next hello.
    const stopped = server.stop();
    recover("domain_reload");
    await stopped;
    await pause(downMs);
    if (ended) return;
    world.generation += 1;
    world.phase = restingPhase(world);
    await listenAgain(server.port());
    lanes.setPaused(false);
    push.push("DOMAIN_RELOAD_RECOVERED", { generation: world.generation });
  };

  ledger.startSession(editorSessionId);
  recover("editor_exit");
  timers.every(settings.heartbeatMs, () => {
    ledger.tryToHeal();
    const runningOperationId = lanes.runningOnMain();
    notify("bridge/heartbeat", {
      editorSessionId,
      generation: world.generation,
      assetCounter: world.assetCounter,
      phase: world.phase,
      mainThreadStallMs: Math.round(lanes.mainThreadStallMs()),
      ...(runningOperationId === undefined ? {} : { runningOperationId }),
      queued: lanes.queued(),
      memory: process.memoryUsage().rss,
      cpu: process.cpuUsage().user / 1000,
    });
  });

  const end = async (unflushed: "keep" | "lose"): Promise<void> => {
    ended = true;
    lanes.close();
    plainBridge.close();
    executions.close();
    timers.close();
    await server.stop();
    ledger.close(unflushed);
  };

  return {
    editorSessionId,
    world,
    ledger,
    lanes,
    server,
    timers,
    hello,
    push,
    clients: clientList.shown,
    clientNames: plainBridge.clientNames,
    reload,
    tellToolsChanged(): void {
      server.broadcast("notifications/tools/list_changed", {});
      push.push("TOOLS_CHANGED", { toolsHash: deps.tools.hash() });
    },
    /** The process dies: it sends nothing, and unflushed data may be lost. */
    async die(unflushed: "keep" | "lose"): Promise<void> {
      push.cut();
      await end(unflushed);
    },
    /** The Editor quits as if a user had quit it. */
    async quit(): Promise<void> {
      world.phase = "quitting";
      server.broadcast("notifications/server/shutdown", { reason: "editor_quit" });
      push.push("UNITY_SHUTDOWN", { reason: "editor_quit" });
      push.close();
      await end("keep");
    },
  };
}

// What becomes of open operations when their script domain or process has ended; pure.

export type RecoveryCause = "domain_reload" | "editor_exit";

export interface OpenOperation {
  operationId: string;
  state: LedgerState;
  readOnly: boolean;
  resumable: boolean;
}

export type RecoveryAction =
  /** It never began: queue it again, in the order of acceptance. */
  | { operationId: string; action: "requeue" }
  /** It never began, and the worker decides whether it runs. */
  | { operationId: string; action: "not_started" }
  | { operationId: string; action: "go_on" }
  | { operationId: string; action: "interrupt"; reason: RecoveryCause }
  /** A read, which only memory recorded. */
  | { operationId: string; action: "forget" };

/** One action for each open operation, in the ledger's order. */
export function planRecovery(cause: RecoveryCause, operations: readonly OpenOperation[]): RecoveryAction[] {
  return operations
    .filter((operation) => operation.state === "accepted" || operation.state === "running")
    .map(({ operationId, state, readOnly, resumable }): RecoveryAction => {
      if (readOnly) return { operationId, action: "forget" };
      if (state === "accepted") {
        return { operationId, action: cause === "domain_reload" ? "requeue" : "not_started" };
      }
      if (cause === "domain_reload" && resumable) return { operationId, action: "go_on" };
      return { operationId, action: "interrupt", reason: cause };
    });
}
