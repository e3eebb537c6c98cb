/** The requests of a worker to an Editor; each answer is checked against the schemas of the protocol. */

import { z } from "zod";
import { ToolDetailsAnswer } from "../../shared/tools/tool.js";
import type { ClientsNotice } from "../../shared/wire/clients-notice.js";
import { RpcFailure } from "../../shared/wire/dialogue.js";
import {
  CancelAnswer,
  EDITOR_CODES,
  GetAnswer,
  ListAnswer,
  type ListedOperation,
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

/** The answer to `operation/list`, page by page. */
export type ListedOperations = Pick<ListAnswer, "open" | "unacknowledged" | "operations">;

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
  /**
   * The operations in the Editor's ledger, each once, open and unacknowledged ones first. `all: false` stops after
   * the first page, which holds as many of those as fit.
   */
  list(options?: { all?: boolean }): Promise<ListedOperations>;
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
    async list({ all = true } = {}) {
      const { nextCursor, ...first } = await ask(ListAnswer, "operation/list", {});
      const operations = new Map<string, ListedOperation>();
      let characters = 0;
      const take = (page: readonly ListedOperation[]): void => {
        // If listed again it may have changed meanwhile; it keeps its first place.
        for (const operation of page) operations.set(operation.operationId, operation);
        characters += JSON.stringify(page).length;
      };
      take(first.operations);
      const asked = new Set<string>();
      let pages = 1;
      for (let cursor = all ? nextCursor : undefined; cursor !== undefined; ) {
        if (asked.has(cursor)) {
          throw new UnreadableAnswer("operation/list", "its pages come back to where they were");
        }
        pages += 1;
        if (pages > MAX_PAGES || characters > MAX_LIST_CHARACTERS) {
          throw new UnreadableAnswer("operation/list", `it does not end: ${operations.size} operations`);
        }
        asked.add(cursor);
        const page: ListAnswer = await ask(ListAnswer, "operation/list", { cursor });
        take(page.operations);
        cursor = page.nextCursor;
      }
      return { ...first, operations: [...operations.values()] };
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
