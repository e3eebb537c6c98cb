/** An Editor's notifications: parsed, held back until hello has been handled, then handed on in wire order. */
import { z } from "zod";
import type { Log } from "../../shared/log.js";
import { LogNotice } from "../../shared/wire/console-lines.js";
import { FinishedNotice, Heartbeat, Progress, RunningNotice } from "../../shared/wire/wire.js";

export type Running = z.infer<typeof RunningNotice>;
export type Finished = z.infer<typeof FinishedNotice>;

/** Called in wire order and not awaited; a throw or a rejection is logged. */
export interface EditorNoticeHandlers {
  onRunning(notice: Running): void | Promise<void>;
  onProgress(notice: Progress): void | Promise<void>;
  onLog?(notice: LogNotice): void | Promise<void>;
  onFinished(notice: Finished): void | Promise<void>;
  onHeartbeat(heartbeat: Heartbeat): void | Promise<void>;
  onToolsChanged(): void | Promise<void>;
  /** The reported end of this operation could not be read; undefined: of some operations, because too many notices came during hello. */
  onMissed?(operationId: string | undefined): void | Promise<void>;
  /** The Editor announces that its server stops (a reload or a quit); the connection ends soon after. */
  onShutdownAnnounced?(reason: string | undefined): void | Promise<void>;
}

export interface EditorNotices {
  /** `characters`: the length of the message. */
  take(method: string, params: unknown, characters?: number): void;
  /** Hands on the held-back notices; from now on none is held back. */
  release(): void;
  /** The newest one received, even while notices are held back; undefined before the first. */
  lastHeartbeat(): Heartbeat | undefined;
}

/** Most notices, and most characters of them, held back while hello is handled. */
const MAX_KEPT = 10_000;
const MAX_KEPT_CHARACTERS = 128 * 1024 * 1024;
/** Notices of Console lines among them: each has other lines. */
const LOGS_KEPT = 100;

const ShutdownNotice = z.looseObject({ reason: z.string().optional() }).optional();

export function createEditorNotices(handlers: EditorNoticeHandlers, log: Log): EditorNotices {
  /** By subject: the last notice of each counts. */
  const kept = new Map<string, { deliver: () => void; characters: number }>();
  let keptCharacters = 0;
  let isMissing = false;
  let released = false;

  const keep = (about: string, deliver: () => void, characters: number): void => {
    keptCharacters += characters - (kept.get(about)?.characters ?? 0);
    kept.delete(about);
    if (kept.size < MAX_KEPT && keptCharacters <= MAX_KEPT_CHARACTERS) {
      kept.set(about, { deliver, characters });
      return;
    }
    keptCharacters -= characters;
    isMissing = true;
  };

  let logs = 0;
  /** The same subject: the later notice replaces the earlier one. */
  const subjectOf = (method: string, params: unknown): string => {
    if (method !== "operation/log") return `${method} ${aboutOf(params)}`;
    logs += 1;
    return `${method} ${logs % LOGS_KEPT}`;
  };

  let lastHeartbeat: Heartbeat | undefined;

  const routes: Record<string, (params: unknown) => () => unknown> = {
    "operation/running": route(RunningNotice, (notice) => handlers.onRunning(notice)),
    "operation/progress": route(Progress, (notice) => handlers.onProgress(notice)),
    "operation/log": route(LogNotice, (notice) => handlers.onLog?.(notice)),
    "operation/finished": route(FinishedNotice, (notice) => handlers.onFinished(notice)),
    "bridge/heartbeat": (params) => {
      const heartbeat = Heartbeat.parse(params);
      lastHeartbeat = heartbeat;
      return () => handlers.onHeartbeat(heartbeat);
    },
    "notifications/tools/list_changed": route(z.unknown(), () => handlers.onToolsChanged()),
    "notifications/server/shutdown": route(ShutdownNotice, (notice) =>
      handlers.onShutdownAnnounced?.(notice?.reason),
    ),
  };

  function route<T>(schema: z.ZodType<T>, handle: (notice: T) => unknown) {
    return (params: unknown): (() => unknown) => {
      const notice = schema.parse(params);
      return () => handle(notice);
    };
  }

  return {
    take(method, params, characters = 0) {
      const read = Object.hasOwn(routes, method) ? routes[method] : undefined;
      if (!read) {
        log.debug({ method }, "unknown notification from the Editor; ignored");
        return;
      }
      let handle: () => unknown;
      try {
        handle = read(params);
      } catch (error) {
        log.warn({ method, err: error }, "notification from the Editor cannot be read; dropped");
        const missed = method === "operation/finished" ? aboutOf(params) : "";
        if (missed !== "") callHandler(log, "missed", () => handlers.onMissed?.(missed));
        return;
      }
      const deliver = () => callHandler(log, method, handle);
      if (released) deliver();
      else keep(subjectOf(method, params), deliver, characters);
    },
    release() {
      released = true;
      for (const { deliver } of kept.values()) deliver();
      kept.clear();
      if (isMissing) callHandler(log, "missed", () => handlers.onMissed?.(undefined));
    },
    lastHeartbeat: () => lastHeartbeat,
  };
}

/** The operation that a notice is about. */
function aboutOf(params: unknown): string {
  const { operationId } = (params ?? {}) as { operationId?: unknown };
  return typeof operationId === "string" ? operationId : "";
}

/** Calls a handler that may throw or reject, without waiting for it. */
export function callHandler(log: Log, event: string, handle: () => unknown): void {
  void (async () => {
    await handle();
  })().catch((error: unknown) => log.warn({ event, err: error }, "a handler of the Editor's events failed"));
}
