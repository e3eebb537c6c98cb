/** The broker's own tools: the verbs that read, cancel and list, with checked arguments. */
import { z } from "zod";
import { type Answer, answerOf, notFound } from "../../shared/answer.js";
import { isFinal } from "../../shared/operation.js";
import { timelineOf, whyOnce } from "../../shared/timeline.js";
import { publicTrouble } from "../../shared/trouble.js";
import { waitTime } from "../../shared/wait-time.js";
import { type BrokerTool, type BrokerToolCall, define, type Seen, UUID } from "./broker-tool.js";
import { FETCH, PART } from "./fetch-tool.js";
import { SELECT } from "./select-tool.js";
import type { ToolAnswer } from "./tool-answer.js";

const RESULT_WAIT_SECONDS = 5;

const logId = z.string().describe("The log_id that an earlier answer gave.");

const TOOLS: BrokerTool[] = [
  define(
    "get_operation_result",
    "Get operation result",
    "Reads what became of an operation, with its result. Operations go on after a wait ended: read them here instead of sending the call again.",
    z.object({
      log_id: logId,
      wait: z.boolean().default(false).describe("Wait for the end of the operation."),
      timeout: z
        .number()
        .min(0)
        .default(RESULT_WAIT_SECONDS)
        .describe("With wait: seconds to wait at most (up to 60)."),
      page: PART.page.optional().describe("One page of a large result, from 1."),
      page_size_kb: PART.page_size_kb,
      path: PART.path,
      jq: z.string().optional().describe("A part of the result, by a jq program such as .hierarchy[].name"),
    }),
    true,
    async (args, call) => {
      const time = waitTime(args.timeout, RESULT_WAIT_SECONDS, call.showsProgress);
      return ofNamed(args.log_id, call, async () => {
        call.request.accepted();
        const seen = args.wait
          ? await call.wait(args.log_id, time.ms)
          : await call.broker.read(call.principal, args.log_id);
        const told = answer(args.log_id, seen, call, args.wait ? time.note : undefined);
        const isPart = args.page !== undefined || args.jq !== undefined;
        return isPart && told.status === "completed" ? partOf(args, told, call) : told;
      });
    },
  ),
  define(
    "get_operation_status",
    "Get operation status",
    "Says where an operation stands, without its result. Never waits.",
    z.object({ log_id: logId }),
    true,
    (args, call) =>
      ofNamed(args.log_id, call, async () => {
        const seen = await call.broker.read(call.principal, args.log_id);
        // Without the result this does not count as having told the outcome.
        return typeof seen === "object" ? answerOf(seen, { brief: true }) : missing(args.log_id, seen);
      }),
  ),
  define(
    "cancel_operation",
    "Cancel operation",
    "Cancels an operation that waits, and asks the Editor to cancel one that runs. Giving up a call does not cancel it; this does.",
    z.object({ log_id: logId }),
    false,
    (args, call) =>
      ofNamed(args.log_id, call, async () => {
        const found = await call.broker.read(call.principal, args.log_id);
        if (typeof found === "object" && isFinal(found.record.state)) {
          const told = answer(args.log_id, found, call, undefined);
          return { ...told, message: `It had already ended; nothing was cancelled. ${told.message}` };
        }
        const seen = await call.broker.cancel(call.principal, args.log_id, call.request.requester);
        return answer(args.log_id, seen, call, cancelNote(seen));
      }),
  ),
  define(
    "explain_operation",
    "Explain operation",
    "Tells an operation's story: when it was accepted, sent, started and ended, which calls found it instead of running it again, and who was told.",
    z.object({ log_id: logId }),
    true,
    (args, call) =>
      ofNamed(args.log_id, call, async () => {
        const seen = await call.broker.explain(call.principal, args.log_id);
        if (typeof seen !== "object") return missing(args.log_id, seen);
        const { record, duplicates } = seen;
        return {
          status: "completed",
          log_id: record.logId,
          tool: record.tool,
          editor: record.editor,
          state: record.state,
          timeline: timelineOf(record, duplicates),
          message: whyOnce(record, duplicates),
        };
      }),
  ),
  define(
    "list_operations",
    "List operations",
    "Lists your operations, the latest first, without results: to find a lost log_id.",
    z.object({ limit: z.int().min(1).max(100).default(20).describe("How many at most.") }),
    true,
    async ({ limit }, call) => {
      const views = await call.broker.list(call.principal, limit);
      return {
        status: "completed",
        operations: views.map((view) => answerOf(view, { brief: true })),
        message: `${views.length} operation(s), the latest first.`,
      };
    },
  ),
  FETCH,
  define(
    "list_editors",
    "List Unity Editors",
    "Lists the Unity Editors that the broker knows, and whether they are connected.",
    z.object({}),
    true,
    async (_args, call) => {
      const { editors, unreached, now } = await call.broker.editors(call.principal);
      const selected = call.selection?.editor();
      const connected = editors.filter(({ connected }) => connected).length;
      return {
        status: "completed",
        editors: editors.map(({ profile, live, lastSeenAt, connected, trouble }) => ({
          id: profile.editorId,
          project: profile.projectName,
          project_path: profile.projectPath,
          unity_version: profile.unityVersion,
          ...(profile.plain
            ? { bridge: "plain (no ledger: a lost connection leaves the outcome unknown)" }
            : {}),
          connected,
          ...(profile.editorId === selected ? { selected: true } : {}),
          ...(connected && live
            ? { phase: live.phase, stall_ms: live.mainThreadStallMs, queued: live.queued }
            : {}),
          ...(lastSeenAt > 0
            ? { last_seen_seconds_ago: Math.max(0, Math.round((now - lastSeenAt) / 1000)) }
            : {}),
          ...(trouble ? { trouble: publicTrouble(trouble, call.principal) } : {}),
        })),
        ...(unreached.length > 0
          ? {
              unreached: unreached.map(({ editor, project, ...trouble }) => ({
                id: editor,
                project,
                trouble: publicTrouble(trouble, call.principal),
              })),
            }
          : {}),
        message: `${editors.length} Editor(s) known, ${connected} connected.`,
      };
    },
  ),
  SELECT,
];

/** By name. */
export const BROKER_TOOLS: ReadonlyMap<string, BrokerTool> = new Map(
  TOOLS.map((tool) => [tool.described.name, tool]),
);

/** ▲7 Naming a log_id proves that what was told of it was read, before anything is done for the call. */
async function ofNamed(
  named: string,
  call: BrokerToolCall,
  read: () => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  if (!UUID.test(named)) return notFound(named.slice(0, 100), false);
  await call.broker.confirm(call.request.requester, named);
  return read();
}

function answer(named: string, seen: Seen, call: BrokerToolCall, note: string | undefined): Answer {
  if (typeof seen !== "object") return missing(named, seen);
  if (isFinal(seen.record.state)) {
    call.request.tells(seen.record);
    return answerOf(seen);
  }
  return answerOf(seen, { note });
}

/** The answer with a part of the result in place of all of it. */
async function partOf(
  {
    page,
    jq,
    ...args
  }: {
    log_id: string;
    page_size_kb: number;
    page?: number | undefined;
    jq?: string | undefined;
    path?: string | undefined;
  },
  told: Answer,
  call: BrokerToolCall,
): Promise<ToolAnswer> {
  const { result: _, cached, cache_id, size_kb, estimated_tokens, usage_hint, preview, ...rest } = told;
  const wanted = jq === undefined ? { action: "get_page", page } : { action: "filter", jq_filter: jq };
  const part = await FETCH.run({ ...args, ...wanted, cache_id: args.log_id }, call);
  return { ...rest, ...part };
}

function missing(named: string, seen: "ended" | undefined): Answer {
  return notFound(named, seen === "ended");
}

function cancelNote(seen: Seen): string | undefined {
  if (typeof seen !== "object" || !seen.record.cancel) return undefined;
  switch (seen.record.cancel.answer) {
    case "not_cancellable":
      return "This tool cannot be cancelled while it runs.";
    case "finished":
      return "It has finished; its outcome is on the way.";
    case "requested":
      return "The Editor was asked to cancel it and will do so when the tool allows it.";
    default:
      if (seen.editorAway || seen.record.sentIn === undefined)
        return "The cancellation waits until the Editor answers again.";
      return "The cancellation is on its way to the Editor.";
  }
}
