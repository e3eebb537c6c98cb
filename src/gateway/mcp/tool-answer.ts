/** An answer as an MCP tool result: its text and structured forms, and the size that one message may have. */
import {
  type CallToolResult,
  type ContentBlock,
  McpError,
  type RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import type { Answer } from "../../shared/answer.js";
import { BrokerError, ERRORS, type ErrorCode } from "../../shared/errors.js";
import type { Log } from "../../shared/log.js";
import { isStoreAway } from "../../shared/redis/connect.js";
import { isStoreFull } from "../../shared/redis/room.js";
import { handedOn } from "../content.js";

/** What a tool of this gateway answers: an operation's answer, or a list with a message of its own. */
export type ToolAnswer = Answer | { status: "completed"; message: string; [field: string]: unknown };

/** Above this many bytes the answer is sent once, as text, not a second time as structured content. */
const STRUCTURED_LIMIT = 256_000;

/** Bytes of one message: the common client gives up above 10 MiB. */
const MESSAGE_LIMIT = 8 * 1024 * 1024;

/** The message around the text: protocol fields, progress of rounding up. */
const ENVELOPE = 1024;

export function toolResult(told: ToolAnswer, requestId: RequestId | null): CallToolResult {
  const { shown, blocks } = handedOn(told.result, String(told.log_id));
  const answer = shown === told.result ? told : { ...told, result: shown };
  const text = textOf(answer);
  if (text === undefined || !fits(text, requestId, blocks)) return toolResult(smaller(answer), requestId);
  const isSmall = Buffer.byteLength(text) <= STRUCTURED_LIMIT;
  return {
    content: [{ type: "text", text }, ...blocks],
    // A part of it would be worse than nothing: clients that read the structured form read nothing else.
    ...(isSmall ? { structuredContent: answer } : {}),
    ...(answer.status === "error" || answer.status === "not_found" ? { isError: true } : {}),
  };
}

/** A refusal as a tool result; throws an McpError where the protocol wants one. */
export function refusalResult(error: unknown, log: Log, logId?: string): CallToolResult {
  const known = asBrokerError(error);
  if (!known) log.error({ error, logId }, "a tool call failed in the broker");
  const code: ErrorCode = known?.code ?? "INTERNAL";
  const { rpc, next } = ERRORS[code];
  const message = known?.message ?? next;
  if (code === "UNKNOWN_TOOL") throw new McpError(rpc, message, { ...known?.details, error_code: code });
  const refusal = known ?? new BrokerError("INTERNAL", "");
  return toolResult(refusalAnswer(refusal, logId === undefined ? {} : { log_id: logId }), null);
}

/** A refusal in the form of an answer, with what else there is to say. */
export function refusalAnswer(
  { code, message, details }: BrokerError,
  more: Record<string, unknown> = {},
): ToolAnswer {
  const { next } = ERRORS[code];
  const happened = message.endsWith(next) ? message.slice(0, -next.length).trim() : message;
  return { status: "error", ...more, error: happened || message, error_code: code, message, ...details };
}

/** A refusal of a request that is no tool call. */
export function refusalError(error: unknown, log: Log): McpError {
  const known = asBrokerError(error);
  if (!known) log.error({ error }, "a request failed in the broker");
  const code: ErrorCode = known?.code ?? "INTERNAL";
  return new McpError(ERRORS[code].rpc, known?.message ?? ERRORS[code].next, { error_code: code });
}

function asBrokerError(error: unknown): BrokerError | undefined {
  if (error instanceof BrokerError) return error;
  if (isStoreFull(error)) return new BrokerError("STORE_FULL", "Redis has no memory left.", {}, error);
  return isStoreAway(error) ? new BrokerError("STORE_UNAVAILABLE", "", {}, error) : undefined;
}

/** Undefined where a result nests too deep to be written at all. */
function textOf(answer: ToolAnswer): string | undefined {
  try {
    return JSON.stringify(answer);
  } catch {
    return undefined;
  }
}

/** The text is a string inside the message: every quote in it is escaped once more. */
function fits(text: string, requestId: RequestId | null, blocks: readonly ContentBlock[]): boolean {
  if (text.length > MESSAGE_LIMIT) return false;
  const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  if (text.length < STRUCTURED_LIMIT / 4 && blocks.length === 0) return true;
  return size(text) + size(blocks) + size(requestId) + ENVELOPE <= MESSAGE_LIMIT;
}

/** The same answer without what makes it too large: said, not cut silently. */
function smaller(answer: ToolAnswer): ToolAnswer {
  const { result, partial_result: partial, data, ...rest } = answer;
  if (data !== undefined) {
    const error = "The part is too large for one message.";
    const message = `${error} ${ERRORS.FETCH_FAILED.next}`;
    return { ...rest, status: "error", error, error_code: "FETCH_FAILED", message } as ToolAnswer;
  }
  if (result === undefined && partial === undefined) {
    return {
      status: "error",
      error_code: "INTERNAL",
      error: "The answer is too large.",
      message: ERRORS.INTERNAL.next,
    };
  }
  if (result === undefined) {
    return {
      ...rest,
      message: `${rest.message} The partial result is too large for one message.`,
    } as ToolAnswer;
  }
  const error = "The result is too large for one message.";
  const { next } = ERRORS.RESULT_TOO_LARGE;
  return {
    ...rest,
    status: "error",
    error,
    error_code: "RESULT_TOO_LARGE",
    message: `${error} ${next}`,
  } as ToolAnswer;
}
