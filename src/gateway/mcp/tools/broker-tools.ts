/** The broker's own tools: the verbs that read, cancel and list, with checked arguments. */
import { z } from "zod";
import { type Answer, answerOf, notFound, statusOf } from "../../../shared/operation/answer.js";
import { isFinal } from "../../../shared/operation/operation.js";
import { timelineOf, whyOnce } from "../../../shared/operation/timeline.js";
import { head } from "../../../shared/shortened-text.js";
import { waitTime } from "../../../shared/wait-time.js";
import { type BrokerTool, type BrokerToolCall, define, UUID, type WaitResult } from "./broker-tool.js";
import { ALIASES, FETCH, HIDDEN, PART } from "./fetch-tool.js";
import { LIST_OPERATIONS } from "./list-tool.js";
import { attachLog } from "./log-lines.js";
import { SELECT } from "./select-tool.js";
import { shownClients } from "./shown-clients.js";
import { shownEditors } from "./shown-editors.js";
import type { ToolAnswer } from "./tool-answer.js";
import { CALL_UNITY_TOOL, LIST_UNITY_TOOLS } from "./unity-tools.js";

const RESULT_WAIT_SECONDS = 5;

const logId = z.string().describe("From an earlier answer.");

const TOOLS: BrokerTool[] = [
  define(
    "get_operation_result",
    "Reads an operation's state and result, or a part of a large result (page, jq, fields). Use it, not the call again, after a wait has ended.",
    z.object({
      log_id: logId,
      wait: z.boolean().default(false).describe("Wait for its end."),
      timeout: z.number().min(0).optional(),
      page: PART.page.optional().describe("One page of it, from 1."),
      page_size_kb: PART.page_size_kb,
      path: PART.path,
      jq: z.string().optional().describe("A jq program, such as .nodes[].name"),
      fields: PART.fields,
    }),
    { readOnly: true, aliases: ALIASES, hidden: HIDDEN, waitSeconds: RESULT_WAIT_SECONDS },
    async (args, call) => {
      const time = waitTime(args.timeout, RESULT_WAIT_SECONDS, call.limits.waits);
      return ofNamed(args.log_id, call, async () => {
        call.request.accepted();
        const seen = args.wait
          ? await call.wait(args.log_id, time.ms)
          : await call.broker.read(call.principal, args.log_id);
        await attachLog(args.log_id, call);
        const how = { note: args.wait ? time.note : undefined, duplicate: await call.found?.() };
        const isPart = args.page !== undefined || args.jq !== undefined || args.fields !== undefined;
        const described = describe(args.log_id, seen, call, how);
        const isThere = described.status === "completed" || described.partial_result !== undefined;
        return isPart && isThere ? partOf(args, described, call) : answer(args.log_id, seen, call, how);
      });
    },
  ),
  define(
    "get_operation_status",
    "Reads an operation's state without its result. Never waits.",
    z.object({ log_id: logId }),
    { readOnly: true },
    (args, call) =>
      ofNamed(args.log_id, call, async () => {
        const seen = await call.broker.read(call.principal, args.log_id);
        await attachLog(args.log_id, call);
        // Without the result this does not count as a delivery of the outcome.
        return typeof seen === "object"
          ? answerOf(seen, { brief: true, mostSeconds: call.limits.waits.mostSeconds })
          : missing(args.log_id, seen);
      }),
  ),
  define(
    "cancel_operation",
    "Cancels an operation that waits, or asks the Editor to end one that runs. Use it when the outcome is not wanted: giving up a call cancels nothing.",
    z.object({ log_id: logId }),
    { readOnly: false },
    (args, call) =>
      ofNamed(args.log_id, call, async () => {
        const found = await call.broker.read(call.principal, args.log_id);
        if (typeof found === "object" && isFinal(found.record.state)) {
          const described = answer(args.log_id, found, call);
          return {
            ...described,
            message: `It had already ended; nothing was cancelled. ${described.message}`,
          };
        }
        const seen = await call.broker.cancel(call.principal, args.log_id, call.request.caller);
        return answer(args.log_id, seen, call, { note: cancelNote(seen) });
      }),
  ),
  define(
    "explain_operation",
    'Shows an operation\'s history, and why it ran once. Use it when an answer says "Not run again" and you expected otherwise.',
    z.object({ log_id: logId }),
    { readOnly: true },
    (args, call) =>
      ofNamed(args.log_id, call, async () => {
        const seen = await call.broker.explain(call.principal, args.log_id);
        if (typeof seen !== "object") return missing(args.log_id, seen);
        const { record, duplicates } = seen;
        return {
          status: statusOf(record),
          log_id: record.logId,
          tool: record.tool,
          editor: record.editor,
          ...(record.pool === undefined ? {} : { pool: record.pool }),
          state: record.state,
          ...(record.createdBy.client === undefined ? {} : { client: record.createdBy.client }),
          timeline: timelineOf(record, duplicates),
          message: whyOnce(record, duplicates),
        } as Answer;
      }),
  ),
  LIST_OPERATIONS,
  FETCH,
  define(
    "list_editors",
    "Lists the Unity Editors: connected or not, what they do; and the MCP clients.",
    z.object({}),
    { readOnly: true },
    async (_args, { broker, principal, selection, request }) => {
      const [editors, clients] = await Promise.all([
        shownEditors(broker, principal, await selection?.editor()),
        broker.clients(principal),
      ]);
      const { connected, ...shown } = editors;
      return {
        status: "completed",
        ...shown,
        ...shownClients(clients, request.caller.id),
        message: `${shown.editors.length} Editor(s) known, ${connected} connected; ${clients.length} MCP client(s) connected.`,
      };
    },
  ),
  SELECT,
  LIST_UNITY_TOOLS,
  CALL_UNITY_TOOL,
];

/** By name. */
export const BROKER_TOOLS: ReadonlyMap<string, BrokerTool> = new Map(TOOLS.map((tool) => [tool.name, tool]));

/**
 * Read (▲7): a caller that names a log_id has read what was delivered to it before; noted before the call does anything
 * else.
 */
async function ofNamed(
  named: string,
  call: BrokerToolCall,
  read: () => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  if (!UUID.test(named)) return notFound(head(named, 100), false);
  await call.request.names(named);
  return read();
}

/** With the outcome, if there is one. */
function answer(named: string, seen: WaitResult, call: BrokerToolCall, how: Described = {}): Answer {
  if (typeof seen === "object" && isFinal(seen.record.state)) call.request.delivers(seen.record);
  return describe(named, seen, call, how);
}

type Described = NonNullable<Parameters<typeof answerOf>[1]>;

function describe(named: string, seen: WaitResult, call: BrokerToolCall, how: Described): Answer {
  if (typeof seen !== "object") return missing(named, seen);
  const note = isFinal(seen.record.state) ? undefined : how.note;
  return answerOf(seen, { ...how, note, mostSeconds: call.limits.waits.mostSeconds });
}

/** The answer with a part of the result instead of the whole, which alone is delivered then. */
async function partOf(
  { log_id, wait: _wait, timeout: _timeout, ...part }: { log_id: string; [argument: string]: unknown },
  described: Answer,
  call: BrokerToolCall,
): Promise<ToolAnswer> {
  const {
    result: _,
    partial_result,
    cached,
    cache_id,
    size_kb,
    estimated_tokens,
    usage_hint,
    preview,
    ...rest
  } = described;
  return { ...rest, ...(await FETCH.run({ log_id, ...part }, call)) };
}

function missing(named: string, seen: "retention_ended" | undefined): Answer {
  return notFound(named, seen === "retention_ended");
}

function cancelNote(seen: WaitResult): string | undefined {
  if (typeof seen !== "object" || !seen.record.cancel) return undefined;
  switch (seen.record.cancel.answer) {
    case "not_cancellable":
      return "This tool cannot be cancelled while it runs.";
    case "finished":
      return "It has finished; its outcome is being collected.";
    case "requested":
      return "The Editor was asked to cancel it and will do so when the tool allows it.";
    default:
      if (seen.editorAway || seen.record.sentIn === undefined)
        return "The cancellation is delivered when the Editor answers again.";
      return "The cancellation is being sent to the Editor.";
  }
}
