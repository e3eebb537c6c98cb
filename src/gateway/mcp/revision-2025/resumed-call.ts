/** A call whose stream its client takes up again: its operation is waited for, and never run. */
import type { CallToolResult, CreateTaskResult } from "@modelcontextprotocol/sdk/types.js";
import { waitTime } from "../../../shared/wait-time.js";
import { ProtocolError, REQUEST_TIMED_OUT } from "../protocol-error.js";
import { type CallToolDeps, type OpenCall, outcomeOf, shownTo } from "../requests/call-tool.js";
import { refusalResult } from "../tools/tool-answer.js";
import type { Resumed } from "./request-stream.js";
import type { OperationCursor } from "./stream-cursor.js";
import { createdTask } from "./task-call.js";

/** Most operations among which one without a known log_id is looked for, newest first. */
const LOOKED_AT = 100;

const STANDARD_SECONDS = 1;

/** Throws a ProtocolError if the call became no operation, as far as is known: it is to be sent again. */
export async function resumeCall(
  deps: CallToolDeps,
  resumed: Resumed,
  call: OpenCall,
): Promise<CallToolResult | CreateTaskResult> {
  const { broker, log } = deps;
  const { request, principal } = call;
  request.accepted();
  try {
    if (resumed.at === "operation") return await answered(deps, resumed, call);
    // The connection broke before the client heard of its operation.
    const { caller, requestId } = request.requester;
    const own = (await broker.list(principal, LOOKED_AT)).find(
      ({ record: { createdBy } }) => createdBy.caller === caller?.id && createdBy.requestId === requestId,
    );
    if (own === undefined) throw sendAgain();
    const { logId } = own.record;
    if (resumed.isTask) return await createdTask(broker, own, "created");
    const { ms } = waitTime(resumed.timeout, STANDARD_SECONDS);
    const until = Date.now() + ms;
    request.underWay({ logId, relation: "created", ms });
    return await answered(deps, { logId, relation: "created", seconds: ms / 1000, until }, call);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return refusalResult(error, log, undefined, shownTo(deps, call)) as CallToolResult;
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
  const { ms: longest } = waitTime(seconds, STANDARD_SECONDS);
  const ms = Math.min(longest, Math.max(0, until - Date.now()));
  const waited = { logId, relation, isConfirmed, ms, isOwn: false, waitedMs: longest };
  return shownTo(deps, call)(await outcomeOf(deps.broker, waited, call)) as CallToolResult;
}

function sendAgain(): ProtocolError {
  return new ProtocolError(
    REQUEST_TIMED_OUT,
    "The connection broke before this request was answered, and it became no operation that is known here. Send it again: a call that has run, or runs, is not run twice.",
  );
}
