/** Looks for what keeps an Editor from working (src/shared/editors/diagnose.ts), and reports it for answers and lists. */
import { z } from "zod";
import { STALL } from "../../shared/counters.js";
import { diagnose } from "../../shared/editors/diagnose.js";
import type {
  Diagnosis,
  DiagnosisLimits,
  EditorSigns,
  HelloRefusal,
} from "../../shared/editors/diagnosis.js";
import type { Log } from "../../shared/log.js";
import { isFinal } from "../../shared/operation/operation.js";
import type { Store } from "../../shared/store/store.js";
import { CLASS_MS, mostExecutionMs } from "../../shared/tools/execution-class.js";
import { RpcFailure } from "../../shared/wire/dialogue.js";
import { knowsNoHello } from "../../shared/wire/uloop.js";
import { EDITOR_CODES } from "../../shared/wire/wire.js";
import { UnverifiedEditor } from "../bridges/bridge.js";
import type { DiscoveredEditor } from "../discovery/discovery.js";
import type { EditorEvent } from "../editor/editor-events.js";
import type { EditorLink } from "../editor/editor-link.js";
import { WrongEditor } from "../editor/handshake.js";
import { UnprovenEditor } from "../editor/proving.js";
import type { DisconnectReason } from "../transport/disconnect.js";

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
