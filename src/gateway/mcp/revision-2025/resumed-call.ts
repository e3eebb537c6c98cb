/** A call whose stream its client takes up again: its operation is waited for, and never run. */
import type { CallToolResult, CreateTaskResult } from "@modelcontextprotocol/sdk/types.js";
import { waitTime } from "../../../shared/wait-time.js";
import { ProtocolError, REQUEST_TIMED_OUT } from "../protocol-error.js";
import { answersTo, type CallToolDeps, type OpenCall, outcomeOf } from "../requests/call-tool.js";
import { refusedAnswer } from "../tools/tool-answer.js";
import type { Resumed } from "./request-stream.js";
import type { OperationCursor } from "./stream-cursor.js";
import { createdTask } from "./task-call.js";

/** Throws a ProtocolError if the call became no operation, as far as is known: it is to be sent again. */
export async function resumeCall(
  deps: CallToolDeps,
  resumed: Resumed,
  call: OpenCall,
): Promise<CallToolResult | CreateTaskResult> {
  const { broker, log } = deps;
  const { request, principal } = call;
  const { fits, limits } = answersTo(deps, call);
  const { waits } = limits;
  request.accepted();
  try {
    if (resumed.at === "operation") return await answered(deps, resumed, call);
    // The connection broke before the client heard of its operation.
    const { logId } = resumed;
    const own = logId === undefined ? undefined : await broker.read(principal, logId);
    if (logId === undefined || typeof own !== "object") throw sendAgain();
    if (resumed.isTask) return await createdTask(broker, own, "created");
    const { ms } = waitTime(resumed.timeout, waits.standardSeconds, waits);
    const until = Date.now() + ms;
    request.underWay({ logId, relation: "created", ms });
    return await answered(deps, { logId, relation: "created", seconds: ms / 1000, until }, call);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return (await fits(refusedAnswer(error, log, undefined))) as CallToolResult;
  } finally {
    call.progress?.close();
  }
}

type Waited = Pick<OperationCursor, "logId" | "relation" | "isConfirmed" | "seconds" | "until">;

/** As long as the call itself would have waited; and not again for its whole time, which may be all that its client allows. */
async function answered(
  deps: CallToolDeps,
  { logId, relation, isConfirmed, seconds, until }: Waited,
  call: OpenCall,
): Promise<CallToolResult> {
  const { fits, limits } = answersTo(deps, call);
  const { waits } = limits;
  const { ms: longest } = waitTime(seconds, waits.standardSeconds, waits);
  const ms = Math.min(longest, Math.max(0, until - Date.now()));
  const waited = { logId, relation, isConfirmed, ms, waitedMs: longest };
  const answer = await outcomeOf({ broker: deps.broker, waits }, waited, call);
  return (await fits(answer)) as CallToolResult;
}

function sendAgain(): ProtocolError {
  return new ProtocolError(
    REQUEST_TIMED_OUT,
    "The connection broke before this request was answered, and it became no operation that is known here. Send it again: a call that has run, or runs, is not run twice.",
  );
}
