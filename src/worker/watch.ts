/** Watches for what keeps an Editor from working (src/shared/trouble.ts), and has it told in answers and lists. */
import { z } from "zod";
import { RpcFailure } from "../shared/dialogue.js";
import { CLASS_MS } from "../shared/execution-class.js";
import type { Log } from "../shared/log.js";
import { isFinal } from "../shared/operation.js";
import { knowsNoHello } from "../shared/plain.js";
import type { Store } from "../shared/redis/store.js";
import {
  type EditorSigns,
  type HelloRefusal,
  type Trouble,
  type TroubleLimits,
  troubleOf,
} from "../shared/trouble.js";
import { EDITOR_CODES } from "../shared/wire.js";
import type { DisconnectReason } from "./disconnect.js";
import type { DiscoveredEditor } from "./discovery.js";
import type { EditorEvent } from "./editor-events.js";
import type { EditorLink } from "./editor-link.js";
import { WrongEditor } from "./hello.js";
import { UnprovenEditor } from "./proving.js";

export interface WatchOptions {
  /** How often it looks, ms. */
  watchMs: number;
  /** A trouble that lasts is told again after this long, ms: well below `TROUBLE_STANDS_MS`. */
  retellMs: number;
  /** After how long something is a trouble. */
  trouble: TroubleLimits;
}

/** What is known of an Editor without a connection. */
export interface DescribedEditor extends DiscoveredEditor {
  /** The Editor that claims the same address. */
  sharesWith: string | undefined;
}

export interface Watch {
  /** Hello was answered by a refusal; it counts until the next attempt ends otherwise. */
  refused(error: Error): void;
  /** What it announced itself, before its connection ended. */
  told(event: EditorEvent): void;
  /** The store has no room for an outcome; told again while that lasts. */
  noRoom(): void;
  /** What the Editor's tool list had that is above a limit; 0 takes it back. */
  toolsLeftOut(count: number, reasons: readonly string[]): void;
  close(): Promise<void>;
}

/** From one time that it is told to the next, ms, and more. */
const NO_ROOM_STANDS_MS = 5_000;

export function createWatch(
  deps: {
    store: Pick<Store, "editors" | "operations">;
    log: Log;
    editorId: string;
    link: Pick<EditorLink, "state" | "lastHeartbeat" | "lastDisconnect">;
    /** What the Editor's endpoint file says now. */
    described(): DescribedEditor | undefined;
  },
  options: WatchOptions,
): Watch {
  const { store, log, editorId, link } = deps;
  let refusal: HelloRefusal | undefined;
  let lostSince: number | undefined = performance.now();
  /** The phase that a heartbeat told last, also after the connection ended. */
  let heard: string | undefined;
  let told: { trouble: Trouble; at: number } | undefined;
  let noRoomAt = Number.NEGATIVE_INFINITY;
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
    return {
      is: "ready",
      stallMs: heartbeat?.mainThreadStallMs ?? 0,
      focused: heartbeat?.focused,
      running: running === undefined ? undefined : await runningNow(running),
    };
  };

  /** Each Editor has a token of its own: one that takes another's port refuses ours before it says who it is. */
  const refusalNow = (): HelloRefusal | undefined => {
    if (link.lastDisconnect !== "hello_refused") return undefined;
    const found = refusal?.why === "token" ? deps.described()?.sharesWith : undefined;
    return found === undefined ? refusal : { why: "wrong_editor", found };
  };

  /** Of an operation that the store does not know nothing is usual: it has the longest time. */
  const runningNow = async (operationId: string) => {
    const [record, now] = await Promise.all([store.operations.find(operationId), store.operations.now()]);
    const usualMs = CLASS_MS[record?.executionClass ?? "long"];
    if (!record || isFinal(record.state)) return { operation: undefined, forMs: 0, usualMs };
    const { tool, principal, startedAt = now } = record;
    return { operation: { tool, principal }, forMs: now - startedAt, usualMs };
  };

  const look = async (): Promise<void> => {
    const described = deps.described();
    const connection = await connectionNow();
    if (link.state === "ready") heard = link.lastHeartbeat?.phase ?? heard;
    // The file may be older than what was heard, unless it says what no Editor with a loaded bridge would say.
    const phase = described?.phase === "safe_mode" ? described.phase : (heard ?? described?.phase);
    const project = described?.projectName ?? editorId;
    const address = described ? `${described.host}:${described.port}` : "its address";
    const isStoreFull = performance.now() - noRoomAt < NO_ROOM_STANDS_MS;
    const signs = { project, pid: described?.pid, address, phase, connection, isStoreFull, toolsLeftOut };
    const trouble = troubleOf(signs, options.trouble);
    const now = performance.now();
    if (trouble?.code === told?.trouble.code && (!told || now - told.at < options.retellMs)) return;
    if (trouble && trouble.code !== told?.trouble.code) {
      log.warn({ editor: editorId, trouble: trouble.code }, trouble.message);
    }
    const at = await store.operations.now();
    await store.editors.tellTrouble(editorId, trouble && { ...trouble, project, at });
    told = trouble && { trouble, at: now };
  };

  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const start = (): void => {
    round = look()
      .catch((error: Error) => log.warn({ editor: editorId, error: error.message }, "watching the Editor"))
      .then(() => {
        if (!closed) timer = setTimeout(start, options.watchMs);
      });
  };
  timer = setTimeout(start, options.watchMs);

  return {
    refused(error) {
      refusal = refusalOf(error);
    },
    told(event) {
      if (event === "reloading") heard = "reloading";
      if (event === "leaving") heard = "quitting";
    },
    noRoom() {
      noRoomAt = performance.now();
    },
    toolsLeftOut(count, reasons) {
      toolsLeftOut = count > 0 ? { count, reasons } : undefined;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await round;
      // Whoever owns the Editor next looks for himself.
      if (told) await store.editors.tellTrouble(editorId, undefined).catch(() => undefined);
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

const Bound = z.object({ boundTo: z.string().optional(), since: z.number().optional() });

function refusalOf(error: Error): HelloRefusal {
  if (error instanceof WrongEditor) return { why: "wrong_editor", found: error.found };
  if (error instanceof UnprovenEditor) return { why: "token" };
  if (!(error instanceof RpcFailure)) return { why: "other", message: error.message };
  if (knowsNoHello(error)) return { why: "plain" };
  switch (error.code) {
    case EDITOR_CODES.UNAUTHORIZED:
      return { why: "token" };
    case EDITOR_CODES.FOREIGN_BROKER:
      return { why: "foreign_broker", ...Bound.safeParse(error.data).data };
    default:
      return { why: "other", message: error.message };
  }
}
