/** The MCP server of one client: translates tool calls into the broker's verbs, and their answers back. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  type Implementation,
  ListToolsRequestSchema,
  type RequestId,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import type { AnswerSettings } from "../../shared/answer-forms.js";
import { clientLabel } from "../../shared/client-identity.js";
import type { Log } from "../../shared/log.js";
import { answerOf, notFound } from "../../shared/operation/answer.js";
import { isFinal } from "../../shared/operation/operation.js";
import { type WaitLimits, waitTime } from "../../shared/wait-time.js";
import type { Broker } from "../broker.js";
import type { ToolCall } from "../call-reader.js";
import { ForceNewRefused, type Submission } from "../submit.js";
import { confirmation, type OpenCall } from "./confirmation.js";
import type { EditorSelection } from "./editor-selection.js";
import type { OpenRequest } from "./open-request.js";
import {
  PROGRESS_DEFAULTS,
  type ProgressOptions,
  type ShownProgress,
  showProgress,
} from "./progress-notifier.js";
import { formFor, shortAnswer } from "./tools/answer-form.js";
import { BROKER_TOOLS } from "./tools/broker-tools.js";
import { limitsFor } from "./tools/client-limits.js";
import { fittedResult } from "./tools/fitted-answer.js";
import { serveResources } from "./tools/resources.js";
import {
  refusalAnswer,
  refusalError,
  refusedAnswer,
  type ToolAnswer,
  toolResult,
} from "./tools/tool-answer.js";
import type { ToolList } from "./tools/tool-list.js";

export interface McpServerDeps {
  broker: Broker;
  toolList: ToolList;
  log: Log;
  version: string;
  answers: AnswerSettings;
  progress?: ProgressOptions | undefined;
}

/** The client that the server serves. */
export interface McpClient {
  principal: string;
  /** The open request with this id, as the SDK's server sees it. */
  request(id: RequestId): OpenRequest;
  /** Undefined if the request belongs to no session. */
  selection: EditorSelection | undefined;
  /** Its folders on this machine, as far as they are known at the moment. */
  folders(): readonly string[];
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const instructions = ({
  standardSeconds,
  mostSeconds,
}: WaitLimits): string => `Tools run in a Unity Editor. Every call becomes one operation with a log_id, and is executed at most once.
\`timeout\` says how many seconds to wait for the outcome (default ${standardSeconds}, at most ${mostSeconds}): for tests, compilation and builds pass ${mostSeconds}. An answer with status "timeout" means that the operation goes on: read it with get_operation_result (log_id, wait: true, timeout: ${mostSeconds}). Do not send the call again, and do not restart Unity.
Reads, run-tests and compile run again with every new call once their outcome was answered: after an edit, just call them again. Any other tool does not run twice: the same call again joins the operation in flight, or answers its recorded outcome ("Not run again"); to run it again on purpose pass its log_id as force_new, and when you retry after a lost answer send the same idempotency_key.
OUTCOME_UNKNOWN means that nobody knows whether it ran: look at the project first. cancel_operation cancels; giving up a call does not. list_operations finds a lost log_id.
With several Unity Editors name one in \`editor\`, or choose one with select_editor; list_editors shows them. If your list of tools lacks Unity's, list_unity_tools shows them and call_unity_tool calls one.
An answer with "cached": true has a large result: fetch_cached_response reads a page or a part of it; nothing runs again.`;

/** A server for one client, not yet connected. Its handlers wait for an Editor at first contact, and for a call's `timeout`. */
export function createMcpServer(deps: McpServerDeps, client: McpClient): Server {
  const { broker, log } = deps;
  const server = new Server(
    { name: "unity-job-broker", title: "Unity Job Broker", version: deps.version },
    {
      capabilities: { tools: { listChanged: true }, resources: {} },
      instructions: instructions(deps.answers.waits),
    },
  );
  server.onerror = (error) => log.debug({ error: error.message }, "the MCP connection reported an error");

  /** Only for clients that ask for progress. */
  const progressOf = (extra: Extra, { signal }: OpenRequest): ShownProgress | undefined => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken === undefined) return undefined;
    return showProgress((note) => {
      if (signal.aborted) return;
      const params = { ...note, progressToken };
      extra
        .sendNotification({ method: "notifications/progress", params })
        .catch((error: unknown) => log.debug({ error: (error as Error).message }, "progress not sent"));
    }, deps.progress ?? PROGRESS_DEFAULTS);
  };

  /** Named re-run (▲8): a refused force_new is answered with the call's own outcome, shown as a replay. */
  const submit = async (call: ToolCall, request: OpenRequest): Promise<Submission | ToolAnswer> => {
    try {
      return await broker.submit(call);
    } catch (error) {
      if (!(error instanceof ForceNewRefused) || !error.newest) throw error;
      const newest = await broker.read(client.principal, error.newest.logId);
      if (typeof newest !== "object") throw error;
      if (isFinal(newest.record.state)) request.delivers(newest.record);
      const shown = answerOf(newest, { duplicate: "replayed" });
      return refusalAnswer(error, { newest: shown });
    }
  };

  const callUnityTool = async (
    params: CallToolRequest["params"],
    { request, requestId, progress }: OpenCall,
    onAccepted: (logId: string) => void,
  ): Promise<ToolAnswer> => {
    const { name: tool, arguments: args = {}, _meta: meta } = params;
    const submission = await submit(
      {
        ...request.requester,
        principal: client.principal,
        client: labelOf(server.getClientVersion()),
        tool,
        arguments: args,
        meta,
        selected: client.selection?.editor,
        signal: request.signal,
        folders: client.folders(),
        askUser: confirmation(server, { request, requestId, progress }),
      },
      request,
    );
    if ("status" in submission) return submission;
    const { record, relation, timeout, isConfirmed } = submission;
    request.accepted();
    const { logId } = record;
    const { waits } = limitsFor(server.getClientVersion(), deps.answers);
    if (relation === "created") request.created(logId);
    onAccepted(logId);
    const time = waitTime(timeout, waits.standardSeconds, waits);
    const startedAt = performance.now();
    const { signal } = request;
    const seen = await broker.wait(client.principal, logId, {
      ms: time.ms,
      signal,
      isOwn: relation === "created",
      onChange: progress?.update,
    });
    if (typeof seen !== "object") return notFound(logId, seen === "retention_ended");
    if (isFinal(seen.record.state)) request.delivers(seen.record);
    const waitedMs = request.signal.aborted ? performance.now() - startedAt : time.ms;
    return answerOf(seen, {
      waitedSeconds: Math.round(waitedMs) / 1000,
      note: isFinal(seen.record.state) ? undefined : time.note,
      duplicate: relation === "created" ? undefined : relation,
      isConfirmed,
      mostSeconds: waits.mostSeconds,
    });
  };

  const call = async ({ params }: CallToolRequest, extra: Extra): Promise<CallToolResult> => {
    const request = client.request(extra.requestId);
    const progress = progressOf(extra, request);
    let logId: string | undefined;
    const form = formFor(server.getClientVersion(), deps.answers.form);
    const limits = limitsFor(server.getClientVersion(), deps.answers);
    const shown = (answer: ToolAnswer): CallToolResult =>
      toolResult(
        form === "short" ? shortAnswer(answer, deps.toolList.hasSeveralEditors()) : answer,
        request.requester.requestId,
        form,
      );
    const attached: Record<string, unknown> = {};
    const fits = (answer: ToolAnswer): Promise<CallToolResult> =>
      fittedResult(answer, { shown, attached, limits, results: broker.results });
    try {
      const own = BROKER_TOOLS.get(params.name);
      const callUnity = (called: CallToolRequest["params"]): Promise<ToolAnswer> =>
        callUnityTool(called, { request, requestId: extra.requestId, progress }, (id) => {
          logId = id;
        });
      const answer = own
        ? await own.run(params.arguments ?? {}, {
            broker,
            principal: client.principal,
            request,
            selection: client.selection,
            limits,
            meta: params._meta ?? {},
            attach: (name, value) => {
              attached[name] = value;
            },
            wait: (id, ms) =>
              broker.wait(client.principal, id, {
                ms,
                signal: request.signal,
                callerKnowsLogId: true,
                onChange: progress?.update,
              }),
            callUnityTool: (name, args, parameters) =>
              callUnity({ ...params, name, arguments: args, _meta: { ...params._meta, ...parameters } }),
          })
        : await callUnity(params);
      return await fits(answer);
    } catch (error) {
      return await fits(refusedAnswer(error, log, logId));
    } finally {
      progress?.close();
      request.accepted();
    }
  };

  server.setRequestHandler(CallToolRequestSchema, call);
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    try {
      return { tools: await deps.toolList.current(client.principal) };
    } catch (error) {
      throw refusalError(error, log);
    }
  });
  serveResources(server, deps, client);
  return server;
}

function labelOf(info: Implementation | undefined): string | undefined {
  return info && clientLabel(info);
}
