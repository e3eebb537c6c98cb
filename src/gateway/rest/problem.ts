/** Refusals as RFC 9457 describes them: application/problem+json, with the code and the advice of the table of errors. */
import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import { type BrokerError, ERRORS, type ErrorCode } from "../../shared/errors.js";
import type { Answer } from "../../shared/operation/answer.js";
import { wellFormedJson } from "../../shared/printable.js";
import type { Log } from "../../shared/telemetry.js";
import { refusal, refusalAnswer, type ToolAnswer } from "../mcp/tools/tool-answer.js";
import type { RestAnswer } from "./rest-answer.js";

export const PROBLEM_TYPE = "application/problem+json";

/** A URN: the code is in docs/reference/errors.md. */
export const problemUri = (code: ErrorCode): string => `urn:unity-broker:error:${code}`;

/** A refusal in the form of an answer. `status`: where HTTP has one of its own for this cause. */
export function problemOf(refused: ToolAnswer, status?: number): RestAnswer {
  const { status: _answered, message, error: _happened, error_code: given, ...details } = refused as Answer;
  const code = given ?? "INTERNAL";
  const { http, retry, next } = ERRORS[code];
  const answered = status ?? http;
  const seconds = Number(details.retry_after_seconds ?? (code === "RATE_LIMITED" ? 1 : Number.NaN));
  return {
    status: answered,
    type: PROBLEM_TYPE,
    headers: Number.isFinite(seconds) ? { "retry-after": String(Math.max(1, Math.ceil(seconds))) } : {},
    body: {
      ...details,
      type: problemUri(code),
      title: titleOf(code),
      status: answered,
      detail: message,
      error_code: code,
      retry,
      next,
    },
  };
}

/** What was thrown; what no table knows is logged and answered as INTERNAL. `logId`: the operation that was accepted before. */
export function problemFrom(error: unknown, log: Log, logId?: string): RestAnswer {
  return problemOf(refusalAnswer(refusal(error, log, logId), logId === undefined ? {} : { log_id: logId }));
}

export function sendProblem(reply: FastifyReply, error: BrokerError, status?: number): FastifyReply {
  const { status: code, body, type = PROBLEM_TYPE, headers = {} } = problemOf(refusalAnswer(error), status);
  return reply.code(code).headers(headers).type(type).serializer(String).send(wellFormedJson(body));
}

/** A status of HTTP itself, with no code of the broker's. */
export function sendHttpProblem(reply: FastifyReply, status: number, detail: string): FastifyReply {
  return reply.code(status).type(PROBLEM_TYPE).serializer(String).send(httpProblem(status, detail));
}

/** The same as the last words on a connection. */
export function rawProblem(status: number, detail: string, headers: Record<string, string> = {}): string {
  const body = httpProblem(status, detail);
  const all = {
    connection: "close",
    "content-type": PROBLEM_TYPE,
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n");
}

function httpProblem(status: number, detail: string): string {
  return wellFormedJson({ type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, detail });
}

/** "Editor unknown". */
function titleOf(code: ErrorCode): string {
  const words = code.toLowerCase().replaceAll("_", " ");
  return `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}`;
}
