/** `tools/call` of any protocol revision: translates a call into the broker's verbs, and their answers back. */
import type { CallToolRequestParams, CallToolResult, Implementation } from "@modelcontextprotocol/server";
import type { AnswerSettings } from "../../../shared/answer-forms.js";
import { answerOf, notFound, type OperationView } from "../../../shared/operation/answer.js";
import { isFinal, type TraceContext } from "../../../shared/operation/operation.js";
import { type Duplicate, relationOf } from "../../../shared/operation/timeline.js";
import { clientLabel } from "../../../shared/principal.js";
import { head } from "../../../shared/printable.js";
import { inSpan, type Log, type SpanOptions, traceIn } from "../../../shared/telemetry.js";
import { type WaitLimits, waitTime } from "../../../shared/wait-time.js";
import type { Broker } from "../../broker.js";
import type { EditorSelection, ToolCall } from "../../call-reader.js";
import { ForceNewRefused, type Submission } from "../../submit.js";
import type { ShownProgress } from "../progress-notifier.js";
import type { OpenRequest, WaitedFor } from "../request-tracker.js";
import type { BrokerToolCall } from "../tools/broker-tool.js";
import { BROKER_TOOLS } from "../tools/broker-tools.js";
import {
  fittedResult,
  formFor,
  limitsFor,
  refusalAnswer,
  refusedAnswer,
  shortAnswer,
  type ToolAnswer,
  toolResult,
} from "../tools/tool-answer.js";
import type { ToolList } from "../tools/tool-list.js";
import { InputRequired } from "./input-required.js";

export interface CallToolDeps {
  broker: Broker;
  toolList: Pick<ToolList, "hasSeveralEditors">;
  log: Log;
  answers: AnswerSettings;
}

/** A call, and the client that waits for its answer. */
export interface OpenCall {
  principal: string;
  /** As it calls itself. */
  client: Implementation | undefined;
  request: OpenRequest;
  /** Undefined if the request belongs to no session. */
  selection: EditorSelection | undefined;
  /** The client's folders on this machine, as far as they are known at the moment. */
  folders: readonly string[];
  /** Undefined if its client did not ask for progress. */
  progress: ShownProgress | undefined;
  /** Tells its client what the Console says, until the function that it answers is called; undefined if it did not ask for that. */
  followConsole?: ((logId: string) => () => Promise<void>) | undefined;
  askUser: ToolCall["askUser"];
  /** The span of this call; undefined: what its client says (traceOf). */
  trace?: TraceContext | undefined;
  /** Called when the wait has ended without an outcome. `isJoined`: an earlier call made the operation. */
  goesOn?: ((view: OperationView, isJoined: boolean) => void) | undefined;
  /** As for the broker's own tool that reads. */
  found?: BrokerToolCall["found"];
}

/** Waits for the call's `timeout`; throws a ProtocolError where the protocol requires one, and what `askUser` throws as InputRequired. */
export function callTool(
  deps: CallToolDeps,
  params: CallToolRequestParams,
  call: OpenCall,
): Promise<CallToolResult> {
  const about: SpanOptions = {
    parent: traceOf(params, call),
    kind: "server",
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": head(params.name, 128),
      "unity_broker.principal": call.principal,
    },
  };
  return inSpan(`tools/call ${params.name}`, about, async (span) => {
    const answer = await answered(deps, params, { ...call, trace: span.context });
    if (answer.isError) span.set({ "error.type": "tool_error" });
    return answer;
  });
}

/** What the client says that its call belongs to: in `_meta`, else in headers. */
function traceOf(
  { _meta: meta }: Pick<CallToolRequestParams, "_meta">,
  { request }: Pick<OpenCall, "request">,
): TraceContext | undefined {
  return traceIn(meta) ?? request.trace;
}

async function answered(
  deps: CallToolDeps,
  params: CallToolRequestParams,
  call: OpenCall,
): Promise<CallToolResult> {
  const { broker, log } = deps;
  const { principal, request, progress } = call;
  const attached: Record<string, unknown> = {};
  const { limits, fits } = answersTo(deps, call, attached);
  let logId: string | undefined;
  const callUnity = (called: CallToolRequestParams): Promise<ToolAnswer> =>
    callUnityTool({ broker, waits: limits.waits }, called, call, (id) => {
      logId = id;
    });
  try {
    const own = BROKER_TOOLS.get(params.name);
    const answer = own
      ? await own.run(params.arguments ?? {}, {
          broker,
          principal,
          request,
          selection: call.selection,
          limits,
          meta: params._meta ?? {},
          found: call.found,
          attach: (name, value) => {
            attached[name] = value;
          },
          wait: (id, ms) =>
            following(call, id, () => {
              request.waitsFor(id, false);
              return broker.wait(principal, id, {
                ms,
                signal: request.signal,
                askedBy: request.caller,
                trace: call.trace,
                onChange: progress?.update,
              });
            }),
          callUnityTool: (name, args, parameters) =>
            callUnity({ ...params, name, arguments: args, _meta: { ...params._meta, ...parameters } }),
        })
      : await callUnity(params);
    return await fits(answer);
  } catch (error) {
    if (error instanceof InputRequired) throw error;
    return await fits(refusedAnswer(error, log, logId));
  } finally {
    progress?.close();
    request.accepted();
  }
}

/** Answers in the form for this client, and as large as it takes. `attached`: what goes into `_meta`. */
export function answersTo(
  { broker, answers, toolList }: Pick<CallToolDeps, "broker" | "answers" | "toolList">,
  { client, request }: Pick<OpenCall, "client" | "request">,
  attached: Record<string, unknown> = {},
): { limits: ReturnType<typeof limitsFor>; fits(answer: ToolAnswer): Promise<CallToolResult> } {
  const form = formFor(client, answers.form);
  const limits = limitsFor(client, answers);
  const shown = (answer: ToolAnswer): CallToolResult =>
    toolResult(
      form === "short" ? shortAnswer(answer, toolList.hasSeveralEditors()) : answer,
      request.id,
      form,
    );
  const { results } = broker;
  return { limits, fits: (answer) => fittedResult(answer, { shown, attached, limits, results }) };
}

/** How the newest call of this session found its operation; undefined: it created it. */
export async function foundBy(
  broker: Pick<Broker, "explain">,
  { principal, request }: Pick<OpenCall, "principal" | "request">,
  logId: string,
): Promise<Duplicate["relation"] | undefined> {
  const seen = await broker.explain(principal, logId);
  return typeof seen === "object" ? relationOf(request.caller.id, seen.duplicates) : undefined;
}

/** A tool of an Editor. `onAccepted`: called with the log_id once the call is an operation. */
export async function callUnityTool(
  { broker, waits }: { broker: Broker; waits: WaitLimits },
  params: CallToolRequestParams,
  call: OpenCall,
  onAccepted: (logId: string) => void,
): Promise<ToolAnswer> {
  const { request } = call;
  const submission = await submit(broker, toolCallOf(params, call), request);
  if ("status" in submission) return submission;
  const { record, relation, timeout, isConfirmed } = submission;
  request.accepted();
  const { logId } = record;
  onAccepted(logId);
  const { ms, note } = waitTime(timeout, waits.standardSeconds, waits);
  const waited = { logId, relation, isConfirmed, ms };
  request.underWay(waited);
  return outcomeOf({ broker, waits }, { ...waited, note }, call);
}

/** Waits for the outcome of a call that was accepted. `waitedMs`: what its answer says, if it has waited before. */
export async function outcomeOf(
  { broker, waits }: { broker: Broker; waits: WaitLimits },
  waited: WaitedFor & { note?: string | undefined; waitedMs?: number },
  call: Pick<OpenCall, "principal" | "request" | "progress" | "followConsole" | "goesOn" | "trace">,
): Promise<ToolAnswer> {
  const { logId, relation, isConfirmed, ms } = waited;
  const { principal, request } = call;
  const { signal } = request;
  const startedAt = performance.now();
  const onChange = call.progress?.update;
  // A request that is taken up again has told its client the log_id.
  const isResumed = waited.waitedMs !== undefined;
  const wait = () =>
    broker.wait(principal, logId, {
      ms,
      signal,
      onChange,
      askedBy: isResumed ? request.caller : undefined,
      isCall: !isResumed,
      isNew: !isResumed && relation === "created",
      trace: call.trace,
    });
  // What was said in a run of long ago is no news.
  const seen = relation === "replayed" ? await wait() : await following(call, logId, wait);
  if (typeof seen !== "object") return notFound(logId, seen === "retention_ended");
  const hasEnded = isFinal(seen.record.state);
  if (hasEnded) request.delivers(seen.record);
  else call.goesOn?.(seen, relation !== "created");
  const waitedMs = signal.aborted ? performance.now() - startedAt : (waited.waitedMs ?? ms);
  return answerOf(seen, {
    waitedSeconds: Math.round(waitedMs) / 1000,
    note: hasEnded ? undefined : waited.note,
    duplicate: relation === "created" ? undefined : relation,
    isConfirmed,
    mostSeconds: waits.mostSeconds,
  });
}

/** Waits, and tells the client what the Console says meanwhile. */
async function following<T>(
  call: Pick<OpenCall, "followConsole">,
  logId: string,
  wait: () => Promise<T>,
): Promise<T> {
  const stop = call.followConsole?.(logId);
  try {
    return await wait();
  } finally {
    await stop?.();
  }
}

/** The call as the broker's `submit` takes it. */
export function toolCallOf(params: CallToolRequestParams, call: OpenCall): ToolCall {
  const { name: tool, arguments: args = {}, _meta: meta } = params;
  const { client, request, selection, principal, folders, askUser } = call;
  return {
    caller: request.caller,
    requestId: request.id,
    logId: request.logId,
    isResent: request.isResent,
    principal,
    client: client && clientLabel(client),
    tool,
    arguments: args,
    meta,
    selected: selection?.editor,
    trace: call.trace ?? traceOf(params, call),
    isAwaited: request.isAwaited,
    signal: request.signal,
    folders,
    askUser,
  };
}

/** Named re-run (▲8): a refused force_new is answered with the call's own outcome, shown as a replay. */
async function submit(
  broker: Broker,
  call: ToolCall,
  request: OpenRequest,
): Promise<Submission | ToolAnswer> {
  try {
    return await broker.submit(call);
  } catch (error) {
    if (!(error instanceof ForceNewRefused) || !error.newest) throw error;
    const newest = await broker.read(call.principal, error.newest.logId);
    if (typeof newest !== "object") throw error;
    if (isFinal(newest.record.state)) request.delivers(newest.record);
    const shown = answerOf(newest, { duplicate: "replayed" });
    return refusalAnswer(error, { newest: shown });
  }
}
