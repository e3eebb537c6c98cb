/** Records in the store that an Editor is connected, and remembers where it stands and its condition before it went away. */

import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { diagnose } from "../../shared/editors/diagnose.js";
import type {
  Diagnosis,
  DiagnosisLimits,
  EditorSigns,
  HelloRefusal,
} from "../../shared/editors/diagnosis.js";
import {
  type EditorMark,
  type Evidence,
  isFinal,
  type OperationRecord,
} from "../../shared/operation/operation.js";
import type {
  EditorLive,
  EditorProcess,
  EditorProfile,
  LastSign,
  SignNoted,
} from "../../shared/store/editors/editors.js";
import type { Store } from "../../shared/store/store.js";
import { type Log, STALL } from "../../shared/telemetry.js";
import { CLASS_MS, mostExecutionMs } from "../../shared/tools/call-rules.js";
import { type LedgerCheckpoint, memoryOf } from "../../shared/wire/ledger-checkpoint.js";
import { RpcFailure } from "../../shared/wire/rpc.js";
import { knowsNoHello } from "../../shared/wire/uloop.js";
import { EDITOR_CODES, type Heartbeat, type HelloResult } from "../../shared/wire/wire.js";
import { UnverifiedEditor } from "../bridges/bridge.js";
import type { DiscoveredEditor } from "../discovery/discovery.js";
import type { EditorEvent } from "../editor/editor-events.js";
import type { EditorLink } from "../editor/editor-link.js";
import { WrongEditor } from "../editor/handshake.js";
import { UnprovenEditor } from "../editor/proving.js";
import type { DisconnectReason } from "../transport/disconnect.js";

export interface HeartbeatRecorder {
  introduce(hello: HelloResult): Promise<void>;
  /**
   * `outdated`: nothing was recorded, because the store may have lost something since the import (▲13); `incomplete`: it has lost
   * something that the hello had written.
   */
  heard(heartbeat: Heartbeat): Promise<"recorded" | "incomplete" | "outdated">;
  lost(): Promise<void>;
  mark(): EditorMark | undefined;
  /** The Editor's last known condition while it held the operation. */
  lastSigns(record: OperationRecord): Evidence;
  close(): void;
}

/** `owner`: its nonce. `processOf`: the process with this id, if it is on this machine. */
export function createHeartbeatRecorder(
  store: Pick<Store, "editors" | "notifier">,
  { editorId, fence: owner }: { editorId: string; fence: string },
  processOf: (pid: number) => EditorProcess | undefined,
  imports: { importedIn(): string },
): HeartbeatRecorder {
  let profile: EditorProfile | undefined;
  let ledger: LedgerCheckpoint | undefined;
  let isHere = false;
  /** The last heartbeat of this connection, and of the previous one. */
  let latest: LastSign | undefined;
  let before: LastSign | undefined;
  const load = createLoadReader();
  /** What the store was last told of this connection. `at`, `askedAt`: ms of this process's monotonic clock, when it was told, and asked. */
  let noted: { text: string; at: number; askedAt: number; storeAt: number } | undefined;

  /** Messages of other incarnations, which end that. */
  let messages = 0;
  /** The store may have gone back to a moment before it was told. */
  const tellAgain = (): void => {
    messages += 1;
    noted = undefined;
    if (!isHere) void tellGone().catch(() => undefined);
  };
  const stop = store.notifier.on("incarnation", tellAgain, tellAgain);
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;
  /** What the store refuses is said again, as long as it is so: nobody else would say it while this owner has the lease. */
  const tellGone = async (last?: LastSign): Promise<void> => {
    clearTimeout(retry);
    try {
      await store.editors.gone(editorId, owner, last && { last, importedIn: imports.importedIn() });
    } catch (error) {
      const again = (): void => void (isHere || tellGone(last).catch(() => undefined));
      if (!isClosed) retry = setTimeout(again, SAY_AGAIN_MS).unref();
      throw error;
    }
  };

  /** Not after `lost`: a heartbeat that is still being handled would mark the Editor as connected again. */
  const alive = async (live: EditorLive): Promise<SignNoted | undefined> => {
    if (!isHere || !profile) return undefined;
    const { editorSessionId } = profile;
    const importedIn = imports.importedIn();
    const text = JSON.stringify([whatCounts(live), ledger, importedIn]);
    const [now, messagesBefore] = [performance.now(), messages];
    const isNoted = noted?.text === text && now - noted.at < TELL_AGAIN_MS;
    if (noted && isNoted && now - noted.askedAt < ASK_AGAIN_MS) {
      latest = { ...live, editorSessionId, at: noted.storeAt + Math.floor(now - noted.askedAt) };
      return undefined;
    }
    const sign = await store.editors.alive(editorId, { owner, live, ledger, importedIn, isNoted });
    if (sign.kind === "outdated") return sign;
    latest = { ...live, editorSessionId, at: sign.at };
    const at = isNoted && noted ? noted.at : now;
    const isTold = messages === messagesBefore && sign.kind === "noted";
    noted = isTold ? { text, at, askedAt: now, storeAt: sign.at } : undefined;
    return sign;
  };

  /** The previous owner may have died: then its last report still stands as if it were current. */
  const recall = async (): Promise<LastSign | undefined> => {
    const known = await store.editors.find(editorId);
    if (!known?.live) return known?.last;
    return { ...known.live, editorSessionId: known.profile.editorSessionId, at: known.lastSeenAt };
  };

  return {
    async introduce(hello) {
      before = latest ?? (await recall());
      isHere = true;
      noted = undefined;
      const { projectName, projectPath, unityVersion, pid, editorSessionId, generation, assetCounter } =
        hello;
      const process = hello.plain === true ? undefined : processOf(pid);
      profile = {
        editorId,
        projectName,
        projectPath,
        unityVersion,
        pid,
        editorSessionId,
        generation,
        assetCounter,
        ...(hello.labels === undefined ? {} : { labels: hello.labels }),
        ...(process === undefined ? {} : { process }),
        ...(hello.plain === true ? { plain: true as const } : {}),
        ...(hello.bridge === undefined ? {} : { bridge: hello.bridge }),
      };
      ledger = hello.plain === true ? undefined : memoryOf(hello);
      await store.editors.introduce(profile);
      // Connected from hello on, not from the first heartbeat a second later.
      await alive({ phase: hello.phase, mainThreadStallMs: 0, queued: hello.open.length });
    },

    async heard(heartbeat) {
      const { phase, mainThreadStallMs, queued, runningOperationId, generation, ledgerSeq } = heartbeat;
      const assetCounter = heartbeat.assetCounter ?? profile?.assetCounter ?? 0;
      if (ledger && ledgerSeq !== undefined) ledger = { ...ledger, ledgerSeq };
      if (profile && (profile.generation !== generation || profile.assetCounter !== assetCounter)) {
        profile = { ...profile, generation, assetCounter };
        await store.editors.introduce(profile);
      }
      const running = runningOperationId === undefined ? {} : { runningOperationId };
      const sign = await alive({
        phase,
        mainThreadStallMs,
        queued,
        ...running,
        ...load(heartbeat, performance.now()),
      });
      if (sign?.kind === "outdated") return "outdated";
      if (sign === undefined || sign.isWhole) return "recorded";
      if (profile) await store.editors.introduce(profile);
      return "incomplete";
    },

    async lost() {
      isHere = false;
      await tellGone(latest);
    },

    close() {
      isClosed = true;
      clearTimeout(retry);
      stop();
    },

    mark() {
      // A uLoop bridge does not report where it stands: then nothing proves that it has not changed since.
      if (!profile || profile.plain) return undefined;
      const { editorSessionId, generation, assetCounter } = profile;
      return { editorSessionId, generation, assetCounter };
    },

    lastSigns({ logId, executedAs, sentIn, dispatchedAt = 0 }) {
      // The data of the last hello is about the time after the operation was lost.
      const sign = before && before.at >= dispatchedAt ? before : latest;
      // This is a later session, and the store has lost the reports of the earlier one.
      if (!sign || (sentIn !== undefined && sign.editorSessionId !== sentIn)) return {};
      const { at, phase, mainThreadStallMs, runningOperationId } = sign;
      return {
        lastHeartbeatAt: at,
        phase,
        mainThreadStallMs,
        wasRunning: runningOperationId === (executedAs ?? logId),
      };
    },
  };
}

/** An idle Editor's sign of life is written again after this long, ms, with the memory and the processor time that it has by then … */
const TELL_AGAIN_MS = 60_000;
/** … and the store is asked whether it still has what it was told. Each new incarnation is announced, too. */
const ASK_AGAIN_MS = 20_000;
/** What the store refused is said again after this long, ms. */
const SAY_AGAIN_MS = 1_000;
/** What differs each second is told at once only if it differs by a step: a stall by a second, the processor's share by a half of one … */
const STALL_STEP_MS = 1_000;
const CPU_STEP_PERCENT = 50;
/** … and memory by a fifth. */
const MEMORY_STEPS_OF_A_DOUBLING = 4;

function whatCounts({ memoryBytes, cpuPercent, mainThreadStallMs, ...others }: EditorLive): unknown {
  return [
    others,
    Math.floor(mainThreadStallMs / STALL_STEP_MS),
    cpuPercent === undefined ? undefined : Math.round(cpuPercent / CPU_STEP_PERCENT),
    memoryBytes === undefined ? undefined : Math.round(Math.log2(memoryBytes) * MEMORY_STEPS_OF_A_DOUBLING),
  ];
}

/** A shorter time between two heartbeats says little about the processor, ms. */
const LEAST_MS = 200;

/** What the Editor's process uses. `at`: when the heartbeat came, ms on a clock that only goes forward. */
export function createLoadReader(): (
  heartbeat: Pick<Heartbeat, "editorSessionId" | "memory" | "cpu">,
  at: number,
) => Pick<EditorLive, "memoryBytes" | "cpuPercent"> {
  let last: { session: string; cpu: number; at: number } | undefined;
  let percent: number | undefined;
  return ({ editorSessionId: session, memory, cpu }, at) => {
    if (cpu === undefined || last?.session !== session || cpu < last.cpu) percent = undefined;
    else if (at - last.at >= LEAST_MS) percent = Math.round((100 * (cpu - last.cpu)) / (at - last.at));
    if (cpu === undefined) last = undefined;
    else if (last?.session !== session || cpu < last.cpu || at - last.at >= LEAST_MS)
      last = { session, cpu, at };
    return {
      ...(memory === undefined ? {} : { memoryBytes: Math.round(memory) }),
      ...(percent === undefined ? {} : { cpuPercent: percent }),
    };
  };
}

// Looks for what keeps an Editor from working (src/shared/editors/diagnose.ts), and reports it for answers and lists.

export interface HealthMonitorOptions {
  /** How often it looks, ms. */
  healthCheckMs: number;
  /** A diagnosis that still holds is reported again after this long, ms: well below `DIAGNOSIS_STANDS_MS`. */
  reportAgainMs: number;
  /** Time limits of the diagnoses. */
  diagnosis: DiagnosisLimits;
}

/** The data known of an Editor without a connection. */
export interface DescribedEditor extends DiscoveredEditor {
  /** Another Editor that claims the same address. */
  sharesWith: string | undefined;
}

export interface HealthMonitor {
  /** Hello was refused; this counts until the next attempt ends in another way. */
  helloRefused(error: Error): void;
  /** The Editor announced a reload or its end: this is its phase until the next heartbeat reports another. */
  announced(event: EditorEvent): void;
  /** The results in the store have reached their quota; call it again while that lasts. */
  resultQuotaReached(): void;
  /** How many of the Editor's tools are above a limit; 0 withdraws the report. */
  toolsLeftOut(count: number, reasons: readonly string[]): void;
  close(): Promise<void>;
}

/** Longer than the time between two calls of `resultQuotaReached`, ms. */
const QUOTA_REACHED_STANDS_MS = 5_000;

export function createHealthMonitor(
  deps: {
    store: Pick<Store, "editors" | "operations" | "counters">;
    log: Log;
    editorId: string;
    link: Pick<EditorLink, "state" | "lastHeartbeat" | "lastDisconnect">;
    /** The present content of the Editor's endpoint file. */
    described(): DescribedEditor | undefined;
  },
  options: HealthMonitorOptions,
): HealthMonitor {
  const { store, log, editorId, link } = deps;
  let refusal: HelloRefusal | undefined;
  let lostSince: number | undefined = performance.now();
  /** From the last heartbeat or announcement, kept after the connection ended. */
  let lastPhase: string | undefined;
  let reported: { diagnosis: Diagnosis; at: number } | undefined;
  let isStalled = false;
  let quotaReachedAt = Number.NEGATIVE_INFINITY;
  let toolsLeftOut: EditorSigns["toolsLeftOut"];

  const connectionNow = async (): Promise<EditorSigns["connection"]> => {
    if (link.state !== "ready") {
      lostSince ??= performance.now();
      const forMs = performance.now() - lostSince;
      return { is: "lost", forMs, because: becauseOf(link.lastDisconnect), refusal: refusalNow() };
    }
    lostSince = undefined;
    const heartbeat = link.lastHeartbeat;
    const running = heartbeat?.runningOperationId;
    const stallMs = heartbeat?.mainThreadStallMs ?? 0;
    const wasStalled = isStalled;
    isStalled = stallMs >= options.diagnosis.stallMs;
    if (isStalled && !wasStalled) store.counters.add(STALL);
    return {
      is: "ready",
      stallMs,
      focused: heartbeat?.focused,
      running: running === undefined ? undefined : await runningNow(running),
    };
  };

  /** Each Editor has its own token: one that took another's port refuses our token before it tells its id. */
  const refusalNow = (): HelloRefusal | undefined => {
    if (link.lastDisconnect !== "hello_refused") return undefined;
    const found = refusal?.why === "token" ? deps.described()?.sharesWith : undefined;
    return found === undefined ? refusal : { why: "wrong_editor", found };
  };

  /** The usual time of an operation that the store does not know is unknown: assume the longest. */
  const runningNow = async (operationId: string) => {
    const [record, now] = await Promise.all([store.operations.find(operationId), store.operations.now()]);
    const usualMs = record ? mostExecutionMs(record) : CLASS_MS.long;
    if (!record || isFinal(record.state)) return { operation: undefined, forMs: 0, usualMs };
    const { tool, principal, startedAt = now } = record;
    return { operation: { tool, principal }, forMs: now - startedAt, usualMs };
  };

  /** Reports new diagnoses, and repeats lasting ones, because a report expires. */
  const report = async (diagnosis: Diagnosis | undefined, project: string): Promise<void> => {
    const now = performance.now();
    const isSame = diagnosis?.code === reported?.diagnosis.code;
    if (isSame && (!reported || now - reported.at < options.reportAgainMs)) return;
    if (diagnosis && !isSame) log.warn({ diagnosis: diagnosis.code }, diagnosis.message);
    const at = await store.operations.now();
    await store.editors.reportDiagnosis(editorId, diagnosis && { ...diagnosis, project, at });
    reported = diagnosis && { diagnosis, at: now };
  };

  const look = async (): Promise<void> => {
    const described = deps.described();
    const connection = await connectionNow();
    if (link.state === "ready") lastPhase = link.lastHeartbeat?.phase ?? lastPhase;
    // The file may be older than the last heartbeat, unless it reports what no Editor with a loaded bridge would.
    const phase = described?.phase === "safe_mode" ? described.phase : (lastPhase ?? described?.phase);
    const project = described?.projectName ?? editorId;
    const address = described ? `${described.host}:${described.port}` : "its address";
    const isStoreFull = performance.now() - quotaReachedAt < QUOTA_REACHED_STANDS_MS;
    const signs = { project, pid: described?.pid, address, phase, connection, isStoreFull, toolsLeftOut };
    await report(diagnose(signs, options.diagnosis), project);
  };

  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const start = (): void => {
    round = look()
      .catch((error: Error) => log.warn({ error: error.message }, "watching the Editor"))
      .then(() => {
        if (!closed) timer = setTimeout(start, options.healthCheckMs);
      });
  };
  timer = setTimeout(start, options.healthCheckMs);

  return {
    helloRefused(error) {
      refusal = refusalOf(error);
    },
    announced(event) {
      if (event === "reloading") lastPhase = "reloading";
      if (event === "leaving") lastPhase = "quitting";
    },
    resultQuotaReached() {
      quotaReachedAt = performance.now();
    },
    toolsLeftOut(count, reasons) {
      toolsLeftOut = count > 0 ? { count, reasons } : undefined;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await round;
      // The Editor's next owner finds out by itself.
      if (reported) await store.editors.reportDiagnosis(editorId, undefined).catch(() => undefined);
    },
  };
}

function becauseOf(
  reason: DisconnectReason | undefined,
): Extract<EditorSigns["connection"], { is: "lost" }>["because"] {
  switch (reason) {
    case "refused":
      return "closed";
    case "unreachable":
    case "connect_timeout":
    case "heartbeat_lost":
    case "peer_dead":
    case "frame_timeout":
      return "silent";
    case "malformed_frame":
    case "foreign_peer":
      return "not_ours";
    default:
      return "other";
  }
}

const Holder = z.object({
  boundTo: z.string().max(1_000).optional(),
  since: z.int().max(8.64e15).optional(),
  connected: z.boolean().optional(),
  brokerId: z.string().max(1_000).optional(),
  version: z.string().max(1_000).optional(),
});

function refusalOf(error: Error): HelloRefusal {
  if (error instanceof WrongEditor) return { why: "wrong_editor", found: error.found };
  if (error instanceof UnprovenEditor) return { why: "token" };
  if (error instanceof UnverifiedEditor) return { why: "unverified", message: error.message };
  if (!(error instanceof RpcFailure)) return { why: "other", message: error.message };
  if (knowsNoHello(error)) return { why: "plain" };
  switch (error.code) {
    case EDITOR_CODES.UNAUTHORIZED:
      return { why: "token" };
    case EDITOR_CODES.FOREIGN_BROKER:
      return { why: "foreign_broker", ...Holder.safeParse(error.data).data };
    case EDITOR_CODES.LEDGER_UNAVAILABLE:
      return { why: "ledger", message: error.message };
    default:
      return { why: "other", message: error.message };
  }
}

// Handles only the newest of values that may arrive faster than they can be handled: one at a time, and one waits.

/** `restMs`: shortest time between the beginnings of two. A rejection of `handle` is logged. */
export function latestOnly<T>(
  { log, event, restMs }: { log: Log; event: string; restMs: number },
  handle: (value: T) => Promise<void>,
): (value: T) => void {
  let waiting: { value: T } | undefined;
  let isBusy = false;

  const work = async (): Promise<void> => {
    isBusy = true;
    while (waiting) {
      const { value } = waiting;
      waiting = undefined;
      const rested = delay(restMs, undefined, { ref: false });
      try {
        await handle(value);
      } catch (error) {
        log.warn({ event, err: error }, "a handler of the Editor's events failed");
      }
      await rested;
    }
    isBusy = false;
  };

  return (value) => {
    waiting = { value };
    if (!isBusy) void work();
  };
}
