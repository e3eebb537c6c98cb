/** One client from its first message to its last: its server and request tracker, and notifications of changes. */
import { setMaxListeners } from "node:events";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Implementation } from "@modelcontextprotocol/server";
import { type Log, withFields } from "../../shared/log.js";
import type { Caller } from "../../shared/operation/operation.js";
import { callerOf, objectIn } from "../../shared/principal.js";
import { RPC_INVALID_PARAMS } from "../../shared/wire/rpc.js";
import type { Broker } from "../broker.js";
import { namedResult } from "../results/result-uri.js";
import type { EditorSelection } from "./editor-selection.js";
import type { Line } from "./open-request.js";
import { ProtocolError } from "./protocol-error.js";
import { trackRequests } from "./request-tracker.js";
import { namedOperation } from "./requests/state-resources.js";
import { createMcpServer, followRoots } from "./revision-2025/server.js";
import { serveStateless } from "./revision-2026/connection.js";
import type { McpServerDeps } from "./server-deps.js";
import { UUID } from "./tools/broker-tool.js";

// `resources/subscribe`: a client is told when the operation ends whose result or state it asks about; neither changes again.

/** Of one client. */
const MOST_OPEN = 100;

/**
 * Answers the requests of a client until the returned function is called. Every address is taken: of what is not there, or another
 * principal's, it hears nothing.
 */
function serveSubscriptions(
  server: Server,
  { broker, log }: { broker: Pick<Broker, "ended">; log: Log },
  principal: string,
): () => void {
  const open = new Map<string, AbortController>();

  const follow = async (uri: string, logId: string, stop: AbortController): Promise<void> => {
    try {
      if (await broker.ended(principal, logId, stop.signal)) await server.sendResourceUpdated({ uri });
    } catch (error) {
      log.debug({ uri, error: (error as Error).message }, "the end of an operation was not told");
    } finally {
      if (open.get(uri) === stop) open.delete(uri);
    }
  };

  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    const id = namedResult(uri)?.id ?? namedOperation(uri);
    if (id === undefined || !UUID.test(id) || open.has(uri)) return {};
    if (open.size >= MOST_OPEN)
      throw new ProtocolError(
        RPC_INVALID_PARAMS,
        `At most ${MOST_OPEN} subscriptions; unsubscribe from some.`,
        {
          uri,
        },
      );
    const stop = new AbortController();
    open.set(uri, stop);
    void follow(uri, id, stop);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    open.get(uri)?.abort();
    open.delete(uri);
    return {};
  });
  return () => {
    for (const stop of open.values()) stop.abort();
    open.clear();
  };
}

export interface McpSession {
  /** Resolves when the transport closed and all its writes to the store are done. */
  closed: Promise<void>;
  /** The client is initialised. Called by itself when the client says so; by the caller for one that another gateway served. */
  introduced(): void;
  /** Answers open waits as if their time was over, then closes the transport; takes at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
  /** The client will send nothing more; answers written from now on do not count as delivered. */
  inputEnded(): void;
}

export interface SessionClient {
  principal: string;
  caller: Caller;
  selection: EditorSelection;
  /** The working folder of a client on this machine. */
  folder?: string | undefined;
  /** Whether it is still connected, where its session may outlive it; left out: as long as its session lives. */
  isHere?: () => boolean;
}

/** Serves a client from now on. */
export function openMcpSession(given: McpServerDeps, client: SessionClient, line: Line): McpSession {
  const { caller, principal, selection, isHere = () => true } = client;
  const deps = { ...given, log: withFields(given.log, { principal }) };
  const { broker, log, toolList } = deps;
  const declared = (arrived?: unknown): Caller =>
    callerOf(caller, server.getClientCapabilities() ?? objectIn(arrived));
  const tracker = trackRequests(line, { exchanges: deps.exchanges, principal, caller: declared, log });
  const working = client.folder === undefined ? [] : [client.folder];
  const ended = new AbortController();
  // Every task that is followed adds a listener.
  setMaxListeners(0, ended.signal);
  const server = createMcpServer(deps, {
    principal,
    ended: ended.signal,
    request: tracker.request,
    selection,
    folders: () => [...working, ...roots()],
  });
  // Over HTTP the client may be on another machine, where its paths mean something else.
  const roots = caller.transport === "stdio" ? followRoots(server, log) : () => [];
  const endSubscriptions = serveSubscriptions(server, deps, principal);
  let leave: (() => void) | undefined;
  const present = (info: Implementation): void => {
    leave ??= broker.present({ principal, caller: declared(), info, isHere });
  };
  const introduced = (): void => {
    const info = server.getClientVersion();
    if (info) present(info);
  };
  const askForRoots = server.oninitialized;
  server.oninitialized = () => {
    askForRoots?.();
    introduced();
  };
  const stopTelling = toolList.onChange(() => {
    if (!server.getClientVersion()) return;
    server
      .sendToolListChanged()
      .catch((error: unknown) =>
        log.debug({ error: (error as Error).message }, "change of tools not reported"),
      );
  });
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => {
      stopTelling();
      ended.abort();
      endSubscriptions();
      leave?.();
      void tracker
        .idle()
        .then(broker.noted)
        .catch(() => undefined)
        .then(resolve);
    };
  });
  const ofSession = serveStateless(
    deps,
    { principal, request: tracker.request, folders: working, introduced: present },
    tracker.transport,
  );
  // All transports start synchronously: they listen when this returns.
  server
    .connect(ofSession)
    .catch((error: unknown) => log.error({ error: (error as Error).message }, "the transport did not start"));
  return {
    closed,
    inputEnded: tracker.inputEnded,
    introduced,
    async close(deadlineMs) {
      tracker.endWaits();
      let timer: NodeJS.Timeout | undefined;
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([tracker.idle(), deadline]);
      await server.close();
      await Promise.race([closed, deadline]);
      clearTimeout(timer);
    },
  };
}
