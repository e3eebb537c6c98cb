/** An answer as an MCP tool result: its text and structured forms, within the size of one message. */
import type { CallToolResult, ContentBlock, RequestId } from "@modelcontextprotocol/server";
import type { AnswerForm } from "../../../shared/answer-forms.js";
import { BrokerError, ERRORS, type ErrorCode } from "../../../shared/errors.js";
import type { Log } from "../../../shared/log.js";
import type { Answer } from "../../../shared/operation/answer.js";
import { storeFault } from "../../../shared/store/connect.js";
import { wellFormedJson } from "../../../shared/well-formed-json.js";
import { handedOn } from "../../results/content.js";
import { ProtocolError } from "../protocol-error.js";

/** The answer of one of this gateway's tools: an operation's answer, or a list with its own message. */
export type ToolAnswer = Answer | { status: "completed"; message: string; [field: string]: unknown };

/** A larger answer is sent only as text, not again as structured content. */
const STRUCTURED_LIMIT = 256_000;

/** Most bytes of one message: the common client gives up above 10 MiB. */
const MESSAGE_LIMIT = 8 * 1024 * 1024;

/** Room for the message around the text: protocol fields and rounding. */
const ENVELOPE = 1024;

/** In the short form as text only; in the full one also as structured content, though never beside pictures. */
export function toolResult(
  answered: ToolAnswer,
  requestId: RequestId | null,
  form: AnswerForm = "full",
): CallToolResult {
  const { shown, blocks } = handedOn(answered.result, String(answered.log_id));
  const answer = shown === answered.result ? answered : { ...answered, result: shown };
  const text = textOf(answer);
  if (text === undefined || !fits(text, requestId, blocks))
    return toolResult(smaller(answer), requestId, form);
  const isStructured = form === "full" && blocks.length === 0 && Buffer.byteLength(text) <= STRUCTURED_LIMIT;
  return {
    content: [{ type: "text", text }, ...blocks],
    // Partial structured content would be worse than none: clients that read it read nothing else.
    ...(isStructured ? { structuredContent: answer } : {}),
    ...(isError(answer) ? { isError: true } : {}),
  };
}

/** What an operation became is no error of a call that asked for its history, or for a part of what it left. */
function isError({ status, timeline, partial }: ToolAnswer): boolean {
  if (timeline !== undefined || partial !== undefined) return false;
  return status === "error" || status === "not_found";
}

/** A refusal as an answer; throws a ProtocolError if the protocol requires one. */
export function refusedAnswer(error: unknown, log: Log, logId: string | undefined): ToolAnswer {
  const { code, message, details } = refusal(error, log, logId);
  if (code === "UNKNOWN_TOOL")
    throw new ProtocolError(ERRORS[code].rpc, message, { ...details, error_code: code });
  return refusalAnswer({ code, message, details }, logId === undefined ? {} : { log_id: logId });
}

/** What was thrown, as a refusal; what no table knows is logged, and INTERNAL. `logId`: the operation that was accepted before. */
export function refusal(error: unknown, log: Log, logId?: string): BrokerError {
  const known = storeFault(error);
  if (!known) log.error({ error, log_id: logId }, "a tool call failed in the broker");
  return known ?? new BrokerError("INTERNAL", "");
}

/** A refusal in the form of an answer, with additional details. */
export function refusalAnswer(
  { code, message, details }: Pick<BrokerError, "code" | "message" | "details">,
  more: Record<string, unknown> = {},
): ToolAnswer {
  const { next } = ERRORS[code];
  const happened = message.endsWith(next) ? message.slice(0, -next.length).trim() : message;
  return { status: "error", ...more, error: happened || message, error_code: code, message, ...details };
}

/** A refusal of a request that a tool's result does not answer. */
export function refusalError(error: unknown, log: Log): ProtocolError {
  const known = storeFault(error);
  if (!known) log.error({ error }, "a request failed in the broker");
  const code: ErrorCode = known?.code ?? "INTERNAL";
  return new ProtocolError(ERRORS[code].rpc, known?.message ?? ERRORS[code].next, {
    ...known?.details,
    error_code: code,
  });
}

/** Undefined if a result nests too deep to be serialised. */
function textOf(answer: ToolAnswer): string | undefined {
  try {
    return wellFormedJson(answer);
  } catch {
    return undefined;
  }
}

/** The text is a string inside the message, which escapes every quote in it again. */
function fits(text: string, requestId: RequestId | null, blocks: readonly ContentBlock[]): boolean {
  if (text.length > MESSAGE_LIMIT) return false;
  const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  if (text.length < STRUCTURED_LIMIT / 4 && blocks.length === 0) return true;
  return size(text) + size(blocks) + size(requestId) + ENVELOPE <= MESSAGE_LIMIT;
}

/** The same answer without the part that makes it too large; the message says so. */
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
