/** The MCP server of one client of the revisions up to 2025-11-25: a session, whose server can ask its client. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  CompleteRequestSchema,
  type CompleteResult,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  type ListToolsResult,
  ReadResourceRequestSchema,
  type ReadResourceResult,
  type RequestId,
  type ServerNotification,
  type ServerRequest,
  SetLevelRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { EditorSelection } from "../editor-selection.js";
import { instructions } from "../instructions.js";
import type { OpenRequest } from "../open-request.js";
import { countProgress, PROGRESS_DEFAULTS, type ShownProgress, showProgress } from "../progress-notifier.js";
import { filledPrompt, PROMPTS } from "../prompts.js";
import { callTool, type OpenCall } from "../requests/call-tool.js";
import { complete } from "../requests/complete.js";
import { createConsoleMessages, type LogLevel } from "../requests/console-messages.js";
import { listResources, listResourceTemplates, readResource } from "../requests/resources.js";
import type { McpServerDeps } from "../server-deps.js";
import { refusalError } from "../tools/tool-answer.js";
import { ASYNC_CALLS, serveAsyncCalls } from "./async-calls.js";
import { confirmation } from "./confirmation.js";
import type { Resumed } from "./request-stream.js";
import { resumeCall } from "./resumed-call.js";
import { callAsTask } from "./task-call.js";
import { serveTasks, TASKS, withTaskSupport } from "./task-handlers.js";
import { createTaskWatch } from "./task-watch.js";

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
