/**
 * Asynchronous calls, an experimental extension of the broker's own: `tools/call_async` is answered at once, what comes of it is told in
 * the notifications `tools/progress` and `tools/result`, and requests of these names ask for it at any time. They lead to the operations
 * that other calls lead to: a client that does not know them calls tools as ever.
 */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { CallToolResult, ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js";
import { answerOf, notFound } from "../../../shared/operation/answer.js";
import { isFinal } from "../../../shared/operation/operation.js";
import { countProgress, PROGRESS_DEFAULTS, showProgress } from "../progress-notifier.js";
import { CallAsyncRequest, ProgressRequest, ResultRequest } from "../read-message.js";
import { callTool, foundBy, type OpenCall } from "../requests/call-tool.js";
import type { McpServerDeps } from "../server-deps.js";

/** What the server declares under `capabilities.experimental`. */
export const ASYNC_CALLS = { asyncToolCalls: {} };

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A notification under the name of the request that asks for the same. */
interface AsyncNotification {
  method: "tools/progress" | "tools/result";
  params: Record<string, unknown>;
}

export interface AsyncCallsClient {
  principal: string;
  /** A request of this client, as for `tools/call`. */
  open(extra: Extra): OpenCall;
  /** Aborted when its session has ended. */
  ended: AbortSignal;
}

export function serveAsyncCalls(server: Server, deps: McpServerDeps, client: AsyncCallsClient): void {
  const tell = (notification: AsyncNotification): void => {
    if (client.ended.aborted) return;
    // The SDK's type knows the protocol's own notifications only.
    server
      .notification(notification as unknown as ServerNotification)
      .catch((error: Error) => deps.log.debug({ error: error.message }, "an asynchronous call was not told"));
  };

  server.setRequestHandler(CallAsyncRequest, async ({ params }, extra) => {
    const { name, arguments: args, _meta: meta } = params;
    let going: { logId: string; isJoined: boolean } | undefined;
    const opened = client.open(extra);
    const open: OpenCall = {
      ...opened,
      goesOn: (view, isJoined) => {
        going = { logId: view.record.logId, isJoined };
      },
    };
    const called = { name, arguments: args, _meta: { timeout: 0, ...meta } };
    const answer = await callTool(deps, called, open);
    if (going && params.enable_progress && params.timeout > 0) {
      const followed = { ...going, requestId: opened.request.id, ms: params.timeout * 1000 };
      // Behind the answer, which names the operation.
      setImmediate(() => void follow(deps, client, followed, tell));
    }
    return answer as CallToolResult;
  });
  server.setRequestHandler(
    ProgressRequest,
    async ({ params: { log_id } }, extra) =>
      (await callTool(
        deps,
        { name: "get_operation_status", arguments: { log_id } },
        client.open(extra),
      )) as CallToolResult,
  );
  server.setRequestHandler(ResultRequest, async ({ params: { log_id, timeout } }, extra) => {
    const wanted = { log_id, wait: timeout > 0, timeout };
    const read = { name: "get_operation_result", arguments: wanted };
    const opened = client.open(extra);
    const found = (): ReturnType<typeof foundBy> => foundBy(deps.broker, opened, log_id);
    return (await callTool(deps, read, { ...opened, found })) as CallToolResult;
  });
}

/**
 * Tells of an operation until it ends. When the time ends before, `tools/result` says `timeout`. A notification delivers nothing (▲7): until
 * the client has read the result by its log_id, the same call is answered by this outcome.
 */
async function follow(
  { broker, log, progress = PROGRESS_DEFAULTS }: McpServerDeps,
  { principal, ended }: AsyncCallsClient,
  {
    logId,
    isJoined,
    requestId,
    ms,
  }: { logId: string; isJoined: boolean; requestId: string | number; ms: number },
  tell: (notification: AsyncNotification) => void,
): Promise<void> {
  const named = { request_id: requestId, log_id: logId };
  const shown = showProgress((note) => {
    countProgress(broker);
    tell({ method: "tools/progress", params: { ...note, ...named } });
  }, progress);
  try {
    const seen = await broker.wait(principal, logId, { ms, signal: ended, onChange: shown.update });
    if (ended.aborted) return;
    const answer =
      typeof seen !== "object"
        ? notFound(logId, seen === "retention_ended")
        : answerOf(seen, {
            ...(isFinal(seen.record.state) ? {} : { waitedSeconds: ms / 1000 }),
            ...(isJoined ? { duplicate: "joined" } : {}),
          });
    shown.close();
    tell({ method: "tools/result", params: { ...answer, ...named } });
  } catch (error) {
    log.debug(
      { log_id: logId, error: (error as Error).message },
      "an asynchronous call is no longer followed",
    );
  } finally {
    shown.close();
  }
}
