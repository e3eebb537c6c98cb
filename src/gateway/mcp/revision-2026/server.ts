/**
 * MCP of revision 2026-07-28: every request says by itself whose it is and what its client can do, and is answered by what it
 * says alone. The SDK's server is not used here: it forgets a request when it hands its answer to a transport, and what
 * counts is when the answer is written (request-tracker.ts); and no call of it may become a task.
 */
import { type CallToolRequestParams, isSpecType, type JSONRPCMessage } from "@modelcontextprotocol/server";
import type { OperationView } from "../../../shared/operation/answer.js";
import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS, RPC_UNKNOWN_METHOD } from "../../../shared/wire/rpc.js";
import { countProgress, PROGRESS_DEFAULTS, type ShownProgress, showProgress } from "../progress-notifier.js";
import { filledPrompt, PROMPTS } from "../prompts.js";
import { ProtocolError } from "../protocol-error.js";
import { callTool, type OpenCall } from "../requests/call-tool.js";
import { complete } from "../requests/complete.js";
import { createConsoleMessages, isLogLevel } from "../requests/console-messages.js";
import { InputRequired } from "../requests/input-required.js";
import { listResources, listResourceTemplates, readResource } from "../requests/resources.js";
import type { McpServerDeps } from "../server-deps.js";
import { refusalError } from "../tools/tool-answer.js";
import { confirmation } from "./confirmation.js";
import { DISCOVER, discovery } from "./discovery.js";
import { createListen, type Listen } from "./listen.js";
import { ALWAYS_ASK, LOG_LEVEL_KEY, OWN_LIST, resultOf, SUBSCRIPTION_KEY, UNCHANGING } from "./protocol.js";
import { type ReadRequest, readRequest, type StatelessRequest } from "./request.js";
import { cancelTask, createdTask, getTask, requireTasks, updateTask } from "./tasks.js";

export interface StatelessServer {
  /** Does it know the method? */
  has(method: string): boolean;
  /** Never rejects. */
  answer(request: StatelessRequest): Promise<JSONRPCMessage>;
}

type Deps = McpServerDeps & { listen: Listen };

/** Answers the fields of a result. Throws a ProtocolError where the protocol requires one. */
type Method = (deps: Deps, request: ReadRequest) => Promise<Record<string, unknown>>;

const METHODS = new Map<string, Method>([
  [DISCOVER, async ({ answers }) => discovery(answers.waits)],
  [
    "tools/list",
    async ({ toolList, log }, { principal }) => {
      try {
        return { tools: await toolList.current(principal), ...OWN_LIST };
      } catch (error) {
        throw refusalError(error, log);
      }
    },
  ],
  ["tools/call", call],
  ["resources/templates/list", async () => ({ ...listResourceTemplates(), ...UNCHANGING })],
  [
    "resources/list",
    async (deps, { principal }) => ({ ...(await listResources(deps, principal)), ...ALWAYS_ASK }),
  ],
  [
    "resources/read",
    async (deps, { principal, request, params: { uri } }) => {
      if (typeof uri !== "string") throw new ProtocolError(RPC_INVALID_PARAMS, "`uri` is a string.");
      return { ...(await readResource(deps, { principal, uri, request })), ...ALWAYS_ASK };
    },
  ],
  ["prompts/list", async () => ({ prompts: PROMPTS, ...UNCHANGING })],
  [
    "prompts/get",
    async ({ log, answers }, { params }) => {
      if (!isSpecType.GetPromptRequestParams(params))
        throw new ProtocolError(RPC_INVALID_PARAMS, "The parameters of prompts/get are invalid.");
      try {
        return { ...filledPrompt(params.name, params.arguments ?? {}, answers.waits) };
      } catch (error) {
        throw refusalError(error, log);
      }
    },
  ],
  [
    "completion/complete",
    async (deps, { principal, params }) => {
      if (!isSpecType.CompleteRequestParams(params))
        throw new ProtocolError(RPC_INVALID_PARAMS, "The parameters of completion/complete are invalid.");
      try {
        return { ...(await complete(deps, principal, params)) };
      } catch (error) {
        throw refusalError(error, deps.log);
      }
    },
  ],
  [
    "subscriptions/listen",
    ({ listen }, { principal, request, params, notify, offersTasks }) => {
      if (wantsTasks(params)) requireTasks(offersTasks);
      return listen({ principal, id: request.id, params, signal: request.signal, notify });
    },
  ],
  ["tasks/get", getTask],
  ["tasks/update", updateTask],
  ["tasks/cancel", cancelTask],
]);

export function createStatelessServer(deps: McpServerDeps): StatelessServer {
  const { log, version } = deps;
  const listen = createListen(deps);
  return {
    has: (method) => METHODS.has(method),
    async answer(asked) {
      const { id, method } = asked.message;
      try {
        const run = METHODS.get(method);
        if (!run) throw new ProtocolError(RPC_UNKNOWN_METHOD, "Method not found.");
        const fields = await run({ ...deps, listen }, readRequest(asked));
        return { jsonrpc: "2.0", id, result: resultOf(fields, version) } as JSONRPCMessage;
      } catch (error) {
        if (error instanceof InputRequired) {
          const result = resultOf({ resultType: "input_required", ...error.result }, version);
          return { jsonrpc: "2.0", id, result } as JSONRPCMessage;
        }
        if (!(error instanceof ProtocolError)) log.error({ error, method }, "a stateless request failed");
        return { jsonrpc: "2.0", id, error: errorOf(error) };
      } finally {
        asked.request.accepted();
      }
    },
  };
}

async function call(deps: Deps, asked: ReadRequest): Promise<Record<string, unknown>> {
  const { principal, request, params, client, capabilities, folders, offersTasks } = asked;
  if (!isSpecType.CallToolRequestParams(params))
    throw new ProtocolError(RPC_INVALID_PARAMS, "The parameters of tools/call are invalid.");
  const { elicitation } = capabilities;
  // {} means forms, as before there were links.
  const canAsk =
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  const askUser = await confirmation(deps.broker, { principal, canAsk, params });
  let open: { view: OperationView; isJoined: boolean } | undefined;
  const result = await callTool(deps, withoutEnvelope(params), {
    principal,
    client,
    request,
    selection: undefined,
    folders,
    progress: progressOf(deps, asked),
    followConsole: consoleOf(deps, asked),
    askUser,
    goesOn: (view, isJoined) => {
      open = { view, isJoined };
    },
  });
  return open && offersTasks ? createdTask(deps.broker, open) : { ...result };
}

/** What the request says for itself is no part of the call. */
function withoutEnvelope({
  name,
  arguments: args,
  _meta = {},
}: CallToolRequestParams): CallToolRequestParams {
  const own = Object.entries(_meta).filter(([key]) => !key.startsWith(RESERVED));
  return { name, ...(args === undefined ? {} : { arguments: args }), _meta: Object.fromEntries(own) };
}

const RESERVED = SUBSCRIPTION_KEY.slice(0, SUBSCRIPTION_KEY.indexOf("/") + 1);

/** Only for clients that ask for progress. */
function progressOf(
  { broker, progress = PROGRESS_DEFAULTS }: Deps,
  { params, request, notify }: ReadRequest,
): ShownProgress | undefined {
  const { progressToken } = (params._meta ?? {}) as Record<string, unknown>;
  if (typeof progressToken !== "string" && typeof progressToken !== "number") return undefined;
  return showProgress((note) => {
    if (request.signal.aborted) return;
    countProgress(broker);
    notify("notifications/progress", { ...note, progressToken });
  }, progress);
}

/** Only for clients that ask for log messages, in the request itself. */
function consoleOf(
  { broker, log }: Deps,
  { principal, params, notify }: ReadRequest,
): OpenCall["followConsole"] {
  const level = ((params._meta ?? {}) as Record<string, unknown>)[LOG_LEVEL_KEY];
  if (!isLogLevel(level)) return undefined;
  const messages = createConsoleMessages({ read: (id, after) => broker.log(principal, id, after), log });
  return (logId) =>
    messages.follow(logId, level, async (params) => notify("notifications/message", { ...params }));
}

function wantsTasks({ notifications }: ReadRequest["params"]): boolean {
  return typeof notifications === "object" && notifications !== null && "taskIds" in notifications;
}

/** Codes that this revision does not have: of an unknown resource, and those that no revision ever gave a meaning. */
const NO_RESOURCE = -32002;
const isOld = (code: number): boolean => code > -32020 && code <= -32000;

function errorOf(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof ProtocolError)) return { code: RPC_INTERNAL_ERROR, message: "Internal error." };
  const { code, message, data } = error;
  const shown = code === NO_RESOURCE ? RPC_INVALID_PARAMS : isOld(code) ? RPC_INTERNAL_ERROR : code;
  return { code: shown, message, ...(data === undefined ? {} : { data }) };
}
