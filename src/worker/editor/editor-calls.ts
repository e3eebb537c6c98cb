/** The requests of a worker to an Editor; each answer is checked against the schemas of the protocol. */
import { z } from "zod";
import type { Log } from "../../shared/telemetry.js";
import { ToolDetailsAnswer } from "../../shared/tools/tool.js";
import type { ClientsNotice } from "../../shared/wire/clients-notice.js";
import { LogNotice } from "../../shared/wire/console-lines.js";
import { RpcFailure } from "../../shared/wire/rpc.js";
import {
  CancelAnswer,
  EDITOR_CODES,
  FinishedNotice,
  GetAnswer,
  Heartbeat,
  ListAnswer,
  type ListedOperation,
  Progress,
  RunningNotice,
  SubmitAnswer,
  type SubmitParams,
} from "../../shared/wire/wire.js";
import type { Connection } from "../transport/connection.js";

const RevokeAnswer = z.looseObject({ state: z.enum(["revoked", "already_started", "finished"]) });
export type RevokeAnswer = z.infer<typeof RevokeAnswer>;

/** Base64 of a part of the result's UTF-8 JSON, which may end within a character; `total` and `offset` in bytes. */
const ResultPart = z.looseObject({
  offset: z.int().nonnegative(),
  total: z.int().nonnegative(),
  base64: z.base64(),
});
export type ResultPart = z.infer<typeof ResultPart>;

/** The Editor's answer does not follow protocol 1, so it answers nothing. */
export class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";
  readonly method: string;

  constructor(method: string, detail: string) {
    super(`the Editor's answer to ${method} is not what protocol 1 says: ${detail}`);
    this.method = method;
  }
}

/** An Editor's ledger keeps about a thousand operations, about a hundred per page. */
const MAX_PAGES = 1_000;
const MAX_LIST_CHARACTERS = 64 * 1024 * 1024;

/**
 * None of these sends twice, and any number may be under way at once. Each rejects with RpcFailure (`code` is
 * one of EDITOR_CODES or JSON-RPC's own), ConnectionLost, FrameTooLarge or UnreadableAnswer. After the last three
 * the Editor may have acted on the request, except where ConnectionLost says `sent: false` and after an `outgoing`
 * FrameTooLarge.
 */
export interface EditorCalls {
  /** Answered at once with the operation's state; the end of a running operation comes as `operation/finished`. */
  submit(params: SubmitParams): Promise<SubmitAnswer>;
  get(operationId: string): Promise<GetAnswer>;
  cancel(operationId: string): Promise<CancelAnswer>;
  /** `revoked` holds for ever: the Editor will refuse a later submit of this id. */
  revoke(operationId: string): Promise<RevokeAnswer>;
  /** The operations in the Editor's ledger, each once. */
  list(): Promise<ListedOperation[]>;
  /** A part of a result too large for a frame (its outcome has `resultBytes`); it may be shorter than requested. */
  resultPart(operationId: string, offset: number, length: number): Promise<ResultPart>;
  /** Lets the Editor forget outcomes; call it only for those that are stored durably. */
  ack(operationIds: string[]): Promise<void>;
  toolDetails(): Promise<z.infer<typeof ToolDetailsAnswer>>;
  /** Unanswered, and lost without notice with the connection. Nothing is said to an Editor whose bridge keeps no ledger. */
  tellClients(notice: ClientsNotice): void;
}

/** Asks over one connection; calls `onFenced` if an answer was FENCED, before the call rejects. */
export function createEditorCalls(connection: Connection, onFenced: () => void): EditorCalls {
  const ask = async <T>(schema: z.ZodType<T>, method: string, params: unknown): Promise<T> => {
    try {
      return await askTyped(connection, schema, method, params);
    } catch (error) {
      if (error instanceof RpcFailure && error.code === EDITOR_CODES.FENCED) onFenced();
      throw error;
    }
  };
  return {
    submit: (params) => ask(SubmitAnswer, "operation/submit", params),
    get: (operationId) => ask(GetAnswer, "operation/get", { operationId }),
    cancel: (operationId) => ask(CancelAnswer, "operation/cancel", { operationId }),
    revoke: (operationId) => ask(RevokeAnswer, "operation/revoke", { operationId }),
    async list() {
      const operations = new Map<string, ListedOperation>();
      const asked = new Set<string | undefined>();
      let characters = 0;
      let cursor: string | undefined;
      do {
        if (asked.has(cursor)) {
          throw new UnreadableAnswer("operation/list", "its pages come back to where they were");
        }
        if (asked.size >= MAX_PAGES || characters > MAX_LIST_CHARACTERS) {
          throw new UnreadableAnswer("operation/list", `it does not end: ${operations.size} operations`);
        }
        asked.add(cursor);
        const page: ListAnswer = await ask(
          ListAnswer,
          "operation/list",
          cursor === undefined ? {} : { cursor },
        );
        // If listed again it may have changed meanwhile; it keeps its first place.
        for (const operation of page.operations) operations.set(operation.operationId, operation);
        characters += JSON.stringify(page.operations).length;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return [...operations.values()];
    },
    resultPart: (operationId, offset, length) =>
      ask(ResultPart, "operation/result", { operationId, offset, length }),
    async ack(operationIds) {
      await ask(z.unknown(), "operation/ack", { operationIds });
    },
    tellClients: (notice) => connection.notify("bridge/clients", notice),
    toolDetails: () => ask(ToolDetailsAnswer, "get-tool-details", { IncludeDevelopmentOnly: false }),
  };
}

/** One request and its answer as `schema` reads it. */
export async function askTyped<T>(
  connection: Connection,
  schema: z.ZodType<T>,
  method: string,
  params: unknown,
): Promise<T> {
  const read = schema.safeParse(await connection.request(method, params));
  if (!read.success) throw new UnreadableAnswer(method, z.prettifyError(read.error));
  return read.data;
}

// An Editor's notifications: parsed, held back until hello has been handled, then handed on in wire order.

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
