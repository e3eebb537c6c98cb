/** The MCP server of one client of the revisions up to 2025-11-25: a session, whose server can ask its client. */
import { realpath } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  CancelTaskRequestSchema,
  CompleteRequestSchema,
  type CompleteResult,
  type CreateTaskResult,
  GetPromptRequestSchema,
  GetTaskPayloadRequestSchema,
  GetTaskRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListTasksRequestSchema,
  ListToolsRequestSchema,
  type ListToolsResult,
  ReadResourceRequestSchema,
  type ReadResourceResult,
  type RequestId,
  RootsListChangedNotificationSchema,
  type ServerNotification,
  type ServerRequest,
  SetLevelRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { BrokerError } from "../../../shared/errors.js";
import { isFinal } from "../../../shared/operation/operation.js";
import type { Log } from "../../../shared/telemetry.js";
import { waitTime } from "../../../shared/wait-time.js";
import type { Broker } from "../../broker.js";
import type { EditorSelection, ToolCall } from "../../call-reader.js";
import { countProgress, PROGRESS_DEFAULTS, type ShownProgress, showProgress } from "../progress-notifier.js";
import { filledPrompt, instructions, PROMPTS } from "../prompts.js";
import { ProtocolError, REQUEST_TIMED_OUT } from "../protocol-error.js";
import { questionText } from "../question-text.js";
import type { OpenRequest } from "../request-tracker.js";
import { answersTo, type CallToolDeps, callTool, type OpenCall, outcomeOf } from "../requests/call-tool.js";
import { complete } from "../requests/complete.js";
import { createConsoleMessages, type LogLevel } from "../requests/console-messages.js";
import { listResources, listResourceTemplates, readResource } from "../requests/resources.js";
import type { McpServerDeps } from "../server-deps.js";
import { taskOf } from "../task.js";
import { BROKER_TOOLS } from "../tools/broker-tools.js";
import { refusalError, refusedAnswer } from "../tools/tool-answer.js";
import { ASYNC_CALLS, serveAsyncCalls } from "./async-calls.js";
import type { Resumed } from "./request-stream.js";
import type { OperationCursor } from "./stream-cursor.js";
import { asMcpTask, callAsTask, createdTask } from "./task-call.js";
import { createTaskRequests, type TaskRequest } from "./task-requests.js";

// Asks the user of an MCP client before a tool runs (elicitation), if the client supports it.

/** The call whose user is asked. */
interface AskingCall {
  request: OpenRequest;
  /** As the SDK's server sees it. */
  requestId: RequestId;
  /** Undefined if its client did not ask for progress. */
  progress: ShownProgress | undefined;
}

/** How long a user may take, ms; a client that waits less gives up its call, which ends the question. */
const PATIENCE_MS = 10 * 60_000;

/**
 * How a call's user is asked; undefined if the client cannot ask. Throws NOT_CONFIRMED for every answer but yes. The
 * client's other messages are handled meanwhile: the call gives its turn back and takes one again afterwards.
 */
function confirmation(server: Server, call: AskingCall): ToolCall["askUser"] {
  if (!server.getClientCapabilities()?.elicitation?.form) return undefined;
  const { request, requestId, progress } = call;
  return async (question) => {
    request.accepted();
    progress?.say("waiting for the user's answer");
    const { action } = await server
      .elicitInput(
        { message: questionText(question), requestedSchema: { type: "object", properties: {} } },
        { relatedRequestId: requestId, signal: request.signal, timeout: PATIENCE_MS },
      )
      .catch((error: Error) => {
        throw new BrokerError("NOT_CONFIRMED", `The user was asked and did not answer (${error.message}).`);
      });
    await request.turnAgain();
    if (request.signal.aborted)
      throw new BrokerError("NOT_CONFIRMED", "The call was given up before the answer came.");
    if (action !== "accept") throw new BrokerError("NOT_CONFIRMED", "The user was asked and said no.");
  };
}

// Declares the tasks of revision 2025-11-25, and puts their requests behind the SDK's server.

/** The server's capability. */
const TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

const OPTIONAL = { execution: { taskSupport: "optional" } };

/** For clients that know tasks: others would only read a longer list. The broker's own tools answer at once. */
function withTaskSupport<T extends { name: string }>(tools: readonly T[]): T[] {
  return tools.map((tool) => (BROKER_TOOLS.has(tool.name) ? tool : { ...tool, ...OPTIONAL }));
}

function serveTasks(server: Server, deps: CallToolDeps, asked: (extra: Extra) => TaskRequest): void {
  const tasks = createTaskRequests(deps);
  server.setRequestHandler(GetTaskRequestSchema, async ({ params }, extra) => ({
    ...(await tasks.get(params.taskId, asked(extra))),
  }));
  server.setRequestHandler(GetTaskPayloadRequestSchema, async ({ params }, extra) => ({
    ...(await tasks.result(params.taskId, asked(extra))),
  }));
  server.setRequestHandler(ListTasksRequestSchema, async ({ params }, extra) => ({
    ...(await tasks.list(params?.cursor, asked(extra))),
  }));
  server.setRequestHandler(CancelTaskRequestSchema, async ({ params }, extra) => ({
    ...(await tasks.cancel(params.taskId, asked(extra))),
  }));
}

/** Tells a session when a task that it was given ends, and how it goes on if the call asked for progress. */
export interface TaskWatch {
  /** Until the task ends, or the session. `progress` is closed then. */
  follow(logId: string, progress: ShownProgress | undefined): void;
}

/** Most tasks of a session that are followed; of further ones it is not told. */
const MOST_FOLLOWED = 100;

/** No operation is open for longer. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/** `ended`: aborted when the session has ended. */
function createTaskWatch(
  server: Server,
  deps: { broker: Pick<Broker, "wait" | "retentionMs">; log: Log },
  { principal, ended }: { principal: string; ended: AbortSignal },
): TaskWatch {
  const { broker, log } = deps;
  const followed = new Set<string>();

  const untilEnd = async (logId: string, progress: ShownProgress | undefined): Promise<void> => {
    const wait = { ms: LONGEST_MS, signal: ended, onChange: progress?.update };
    const view = await broker.wait(principal, logId, wait);
    progress?.close();
    if (ended.aborted || typeof view !== "object" || !isFinal(view.record.state)) return;
    const params = asMcpTask(taskOf(view, await broker.retentionMs()));
    await server.notification({ method: "notifications/tasks/status", params });
  };

  return {
    follow(logId, progress) {
      if (followed.has(logId) || followed.size >= MOST_FOLLOWED || ended.aborted) return progress?.close();
      followed.add(logId);
      untilEnd(logId, progress)
        .catch((error: Error) =>
          log.debug({ log_id: logId, error: error.message }, "the end of a task was not told"),
        )
        .finally(() => {
          followed.delete(logId);
          progress?.close();
        });
    },
  };
}

// A call whose stream its client takes up again: its operation is waited for, and never run.

/** Throws a ProtocolError if the call became no operation, as far as is known: it is to be sent again. */
async function resumeCall(
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

/** The client that the server serves. */
export interface McpClient {
  principal: string;
  /** The open request with this id, as the SDK's server sees it. */
  request(id: RequestId): OpenRequest;
  selection: EditorSelection;
  /** Its folders on this machine, as far as they are known at the moment. */
  folders(): readonly string[];
  /** Aborted when its session has ended. */
  ended: AbortSignal;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A server for one client, not yet connected. Its handlers wait for an Editor at first contact, and for a call's `timeout`. */
export function createMcpServer(deps: McpServerDeps, client: McpClient): Server {
  const { log } = deps;
  const { principal } = client;
  const server = new Server(
    { name: "unity-job-broker", title: "Unity Job Broker", version: deps.version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
        completions: {},
        logging: {},
        tasks: TASKS,
        experimental: ASYNC_CALLS,
      },
      instructions: instructions(deps.answers.waits),
    },
  );
  server.onerror = (error) => log.debug({ error: error.message }, "the MCP connection reported an error");

  /** Only for clients that ask for progress. `send`: on the request's stream, or beside it if that does not last. */
  const progressOf = (
    { _meta }: Extra,
    signal: AbortSignal,
    send: Extra["sendNotification"],
  ): ShownProgress | undefined => {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return undefined;
    return showProgress((note) => {
      if (signal.aborted) return;
      const params = { ...note, progressToken };
      countProgress(deps.broker);
      send({ method: "notifications/progress", params }).catch((error: unknown) =>
        log.debug({ error: (error as Error).message }, "progress not sent"),
      );
    }, deps.progress ?? PROGRESS_DEFAULTS);
  };

  serveTasks(server, deps, (extra) => {
    const request = client.request(extra.requestId);
    return {
      principal,
      client: server.getClientVersion(),
      request,
      progress: progressOf(extra, request.signal, extra.sendNotification),
    };
  });
  const watch = createTaskWatch(server, deps, client);

  const messages = createConsoleMessages({ read: (id, after) => deps.broker.log(principal, id, after), log });
  /** Until it names one, the client is sent no log messages. */
  let level: LogLevel | undefined;
  const consoleOf = (extra: Extra): OpenCall["followConsole"] => {
    const least = level;
    if (least === undefined) return undefined;
    return (logId) =>
      messages.follow(logId, least, (params) =>
        extra.sendNotification({ method: "notifications/message", params: { ...params } }),
      );
  };

  const openCall = (extra: Extra, progress: ShownProgress | undefined): OpenCall => {
    const request = client.request(extra.requestId);
    return {
      principal,
      client: server.getClientVersion(),
      request,
      selection: client.selection,
      folders: client.folders(),
      progress,
      followConsole: consoleOf(extra),
      askUser: confirmation(server, { request, requestId: extra.requestId, progress }),
    };
  };
  serveAsyncCalls(server, deps, {
    principal,
    ended: client.ended,
    open: (extra) => openCall(extra, undefined),
  });

  server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    level = params.level;
    return {};
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const request = client.request(extra.requestId);
    const isTask = params.task !== undefined;
    const progress = isTask
      ? progressOf(extra, client.ended, (note) => server.notification(note))
      : progressOf(extra, request.signal, extra.sendNotification);
    const open = openCall(extra, progress);
    const resumed = extra.authInfo?.extra?.resumed as Resumed | undefined;
    if (resumed) return resumeCall(deps, resumed, open);
    if (!isTask) return (await callTool(deps, params, open)) as CallToolResult;
    const { created, logId } = await callAsTask(deps, params, open).catch((error: unknown) => {
      progress?.close();
      throw error;
    });
    watch.follow(logId, progress);
    return created;
  });
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    try {
      const tools = await deps.toolList.current(principal);
      const takesTasks = server.getClientCapabilities()?.tasks !== undefined;
      return { tools: takesTasks ? withTaskSupport(tools) : tools } as ListToolsResult;
    } catch (error) {
      throw refusalError(error, log);
    }
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, listResourceTemplates);
  server.setRequestHandler(ListResourcesRequestSchema, () => listResources(deps, principal));
  server.setRequestHandler(
    ReadResourceRequestSchema,
    async ({ params: { uri } }, { requestId }) =>
      (await readResource(deps, {
        principal,
        uri,
        request: client.request(requestId),
      })) as ReadResourceResult,
  );
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({ prompts: [...PROMPTS] }));
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => {
    try {
      return filledPrompt(params.name, params.arguments ?? {}, deps.answers.waits);
    } catch (error) {
      throw refusalError(error, log);
    }
  });
  server.setRequestHandler(CompleteRequestSchema, async ({ params }) => {
    try {
      return (await complete(deps, principal, params)) as CompleteResult;
    } catch (error) {
      throw refusalError(error, log);
    }
  });
  return server;
}

// MCP roots: the folders that a client on this machine says it works in.

/**
 * Asks for the roots once the client is initialised, and again when it reports a change; only if the client declares
 * roots. Answers the roots known at the moment, as real paths, without waiting for the client.
 */
export function followRoots(server: Server, log: Log): () => readonly string[] {
  let folders: readonly string[] = [];
  let asked = 0;
  let newest = 0;

  const read = async (): Promise<void> => {
    asked += 1;
    const question = asked;
    const { roots } = await server.listRoots();
    const found = await Promise.all(roots.map(({ uri }) => pathOf(uri)));
    if (question < newest) return;
    newest = question;
    folders = found.filter((path) => path !== undefined);
    log.debug({ folders }, "read the client's roots");
  };
  const ask = (): void => {
    if (!server.getClientCapabilities()?.roots) return;
    read().catch((error: unknown) =>
      log.debug({ error: (error as Error).message }, "the client did not answer the request for its roots"),
    );
  };
  server.oninitialized = ask;
  server.setNotificationHandler(RootsListChangedNotificationSchema, ask);
  return () => folders;
}

/** Undefined if it is not a folder of this machine. */
async function pathOf(uri: string): Promise<string | undefined> {
  try {
    const path = fileURLToPath(uri);
    return await realpath(path).catch(() => path);
  } catch {
    return undefined;
  }
}
