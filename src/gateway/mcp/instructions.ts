import type { WaitLimits } from "../../shared/wait-time.js";

/** What a model is told of the broker once; answers do not repeat it. */
export const instructions = ({
  standardSeconds,
  mostSeconds,
}: WaitLimits): string => `Tools run in a Unity Editor. Every call becomes one operation with a log_id, and is executed at most once.
\`timeout\` says how many seconds to wait for the outcome (default ${standardSeconds}, at most ${mostSeconds}): for tests, compilation and builds pass ${mostSeconds}. An answer with status "timeout" means that the operation goes on: read it with get_operation_result (log_id, wait: true, timeout: ${mostSeconds}). Do not send the call again, and do not restart Unity.
Reads, run-tests and compile run with every new call: after an edit, just call them again. The same call of any other tool joins the operation in flight. Once you have its outcome, it runs again; an outcome that you may not have is answered first ("Not run again"), and its log_id as force_new runs it at once. When you retry after a lost answer, send the same idempotency_key.
OUTCOME_UNKNOWN means that nobody knows whether it ran: look at the project first. cancel_operation cancels; giving up a call does not. list_operations finds a lost log_id.
With several Unity Editors name one in \`editor\`, or choose one with select_editor; list_editors shows them. If your list of tools lacks Unity's, list_unity_tools shows them and call_unity_tool calls one.
An answer with "cached": true has a large result: fetch_cached_response reads a page or a part of it; nothing runs again.`;
