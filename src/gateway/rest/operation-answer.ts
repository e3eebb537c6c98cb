/** The broker's answers as those of the REST API. */
import type { Answer } from "../../shared/operation/answer.js";
import { isFinal } from "../../shared/operation/operation.js";
import type { ToolAnswer } from "../mcp/tools/tool-answer.js";
import { problemOf } from "./problem.js";
import { NOT_KEPT, type RestAnswer } from "./rest-answer.js";

export const BASE = "/api/v1";

/** An operation as it is: also one that failed, because the request for it did not. */
export function operationAnswer(answer: ToolAnswer): RestAnswer {
  return isRefusal(answer) ? problemOf(answer) : { status: 200, body: answer, headers: NOT_KEPT };
}

/** The same for the request that submitted it: 202 while it goes on. */
export function submittedAnswer(answer: ToolAnswer): RestAnswer {
  const { state, log_id: logId } = answer as Answer;
  if (isRefusal(answer) || state === undefined || isFinal(state)) return operationAnswer(answer);
  return {
    status: 202,
    body: answer,
    headers: {
      ...NOT_KEPT,
      location: `${BASE}/operations/${logId}`,
      "retry-after": String(secondsLeft(answer as Answer)),
    },
  };
}

/** A refusal is no operation: it has a code, and no state. */
function isRefusal({ error_code: code, state }: ToolAnswer): boolean {
  return code !== undefined && state === undefined;
}

const [LEAST_SECONDS, MOST_SECONDS] = [1, 30];

/** After which it is worth asking again. */
function secondsLeft({ estimated_end_seconds: end = LEAST_SECONDS }: Answer): number {
  return Math.min(Math.max(Math.ceil(end), LEAST_SECONDS), MOST_SECONDS);
}
