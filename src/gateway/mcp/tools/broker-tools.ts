/** The broker's own tools: the verbs that read, cancel and list, with checked arguments. */
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import {
  type Answer,
  answerOf,
  notFound,
  type OperationView,
  statusOf,
} from "../../../shared/operation/answer.js";
import { isFinal, type OperationRecord } from "../../../shared/operation/operation.js";
import { timelineOf, whyOnce } from "../../../shared/operation/timeline.js";
import { head, shortened } from "../../../shared/printable.js";
import { waitTime } from "../../../shared/wait-time.js";
import { shown } from "../../editors/target-error.js";
import { wantedBy } from "../../listing-filter.js";
import { type BrokerTool, type BrokerToolCall, define, UUID, type WaitResult } from "./broker-tool.js";
import { ALIASES, FETCH, HIDDEN, PART } from "./fetch-tool.js";
import { LOG, LOG_AFTER } from "./log-meta.js";
import { shownClients } from "./shown-clients.js";
import { shownEditors } from "./shown-editors.js";
import type { ToolAnswer } from "./tool-answer.js";
import { CALL_UNITY_TOOL, LIST_UNITY_TOOLS } from "./unity-tools.js";

// What the Console says while an operation runs, for programs that show it to people: asked for and answered in MCP's `_meta`,
// so that no tool has a parameter more and no model reads a line of it.

const After = z.int().nonnegative();

/**
 * Attaches the lines after the one that was asked for, if the operation is the caller's. Call it after the operation was
 * read: then an answer with the end has all that came before the end.
 */
async function attachLog(logId: string, { broker, principal, meta, attach }: BrokerToolCall): Promise<void> {
  const after = After.safeParse(meta[LOG_AFTER]);
  if (!after.success) return;
  const log = await broker.log(principal, logId, after.data);
  if (log) attach(LOG, log);
}

// `select_editor`: sets the Editor for calls of a session that name none.

export const SELECT = define(
  "select_editor",
  "Chooses the Editor for this session's calls that name none. Use it if list_editors shows several.",
  z.object({
    editor: z.string().max(200).nullable().describe("Its project's name or id; empty: none."),
  }),
  { readOnly: true },
  async ({ editor }, { broker, principal, selection }) => {
    if (!selection) {
      throw new BrokerError(
        "INVALID_ARGUMENTS",
        "select_editor chooses for a session, but this request belongs to none. Name the Editor in the `editor` argument of each call.",
      );
    }
    if (!editor) {
      await selection.select(undefined);
      return {
        status: "completed",
        selected: null,
        message: "No Editor is selected for this session any more.",
      };
    }
    const found = await broker.editor(principal, editor);
    await selection.select(found.id);
    const waits = found.connected ? "" : " It is not connected: they wait until it is.";
    return {
      status: "completed",
      selected: shown([found])[0],
      message: `Calls of this session that do not name an Editor go to ${found.id}.${waits}`,
    };
  },
);

// `list_operations`: finds a lost log_id, by what was called, when, and from where.

/** Of a call's arguments, characters. */
const MOST_ARGUMENTS = 120;

const LIST_OPERATIONS = define(
  "list_operations",
  "Lists your operations, newest first. Use it to find a lost log_id, or what still runs.",
  z.object({
    limit: z.int().min(1).max(100).default(10),
    state: z.string().optional().describe("Such as running."),
    tool: z.string().optional(),
    editor: z.string().optional(),
    before: z.string().optional().describe("A log_id: older ones."),
  }),
  { readOnly: true },
  async ({ limit, state, tool, editor, before }, call) => {
    if (before !== undefined && !UUID.test(before))
      throw new BrokerError("INVALID_ARGUMENTS", "before is not a log_id.");
    const isWanted = wantedBy({ state, tool, editor });
    // Not one more than is shown: who lists an operation knows its log_id.
    const views = await call.broker.list(call.principal, limit, { isWanted, before });
    const rows = await Promise.all(views.map((view) => rowOf(view, call)));
    const last = views.at(-1)?.record.logId;
    const isFull = views.length === limit && last !== undefined;
    const more = isFull ? ` Older ones, if there are any: pass before: "${last}".` : "";
    return {
      status: "completed",
      operations: rows,
      ...(isFull ? { next_before: last } : {}),
      message: `${rows.length} operation(s), newest first.${more}`,
    };
  },
);

async function rowOf(view: OperationView, { broker, request, limits }: BrokerToolCall) {
  const { record } = view;
  const mine = request.caller.id;
  const isAnother = record.createdBy.caller !== (mine ?? null);
  const args = await broker.results.argumentsOf(record);
  return {
    ...answerOf(view, { brief: true, mostSeconds: limits.waits.mostSeconds }),
    ...(args === undefined || Object.keys(args).length === 0
      ? {}
      : { arguments: shortened(JSON.stringify(args), MOST_ARGUMENTS) }),
    ...(record.startedAt === undefined ? {} : { started_at: new Date(record.startedAt).toISOString() }),
    ...(record.endedAt === undefined ? {} : { ended_at: new Date(record.endedAt).toISOString() }),
    ...(record.resultBytes === undefined ? {} : { size_kb: Math.round(record.resultBytes / 102.4) / 10 }),
    session: isAnother ? "another" : "this",
    ...cancelledBy(record, mine),
  };
}

/** Nothing of one that nobody asked to cancel, or that completed all the same. */
function cancelledBy(
  { state, cancel, cancelledBy: by, abandonedAt }: OperationRecord,
  mine: string | undefined,
): { cancelled_by?: string } {
  const isAsked = cancel !== undefined && !isFinal(state);
  if (state !== "cancelled" && !isAsked) return {};
  if (by === undefined)
    return { cancelled_by: abandonedAt === undefined ? "the broker" : "its client, which gave the call up" };
  if (by === null) return { cancelled_by: "a request without a session" };
  return { cancelled_by: by === mine ? "this session" : "another session" };
}

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
