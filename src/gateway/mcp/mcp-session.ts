/** One client from its first message to its last, over standard input and output or what else carries it: its server and request tracker. */

import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  classifyInboundRequest,
  type Implementation,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Caller } from "../../shared/operation/operation.js";
import { callerOf, objectIn } from "../../shared/principal.js";
import { wellFormedJson } from "../../shared/printable.js";
import { type Log, withFields } from "../../shared/telemetry.js";
import { LONGEST_MESSAGE, refusalOfLong } from "../../shared/wire/long-message.js";
import { createLineAssembler, RPC_INVALID_PARAMS } from "../../shared/wire/rpc.js";
import type { Broker } from "../broker.js";
import { createEditorSelection, type EditorSelection } from "../call-reader.js";
import { createExchanges } from "../exchange.js";
import type { Gateway } from "../gateway.js";
import { namedResult } from "../results/result-uri.js";
import type { ProgressOptions } from "./progress-notifier.js";
import { ProtocolError } from "./protocol-error.js";
import { isRequest, readMessage } from "./read-message.js";
import { type Line, type OpenRequest, trackRequests } from "./request-tracker.js";
import { namedOperation } from "./requests/state-resources.js";
import { createMcpServer, followRoots } from "./revision-2025/server.js";
import { CLIENT_KEY, REVISION, unsupported } from "./revision-2026/protocol.js";
import { createStatelessServer } from "./revision-2026/server.js";
import type { McpServerDeps } from "./server-deps.js";
import { UUID } from "./tools/broker-tool.js";
import { createToolList } from "./tools/tool-list.js";

// MCP over standard input and output: one client, one process.

type StdioEnd = "input_ended" | "output_failed" | "closed";

export interface StdioService {
  /** Resolves with the reason once the client is gone and everything was written; never rejects. */
  closed: Promise<StdioEnd>;
  /** Answers open waits as if their time was over, then ends. */
  close(): Promise<void>;
}

export interface StdioOptions {
  principal?: string;
  /** The client's working folder: a call that names no Editor goes to the Editor of the project around it. */
  folder?: string;
  progress?: ProgressOptions;
  listDebounceMs?: number;
}

/** How long open requests may take to be answered when closing, ms. */
const CLOSE_DEADLINE_MS = 3_000;

/** Serves one client. Only protocol messages are written to `stdout`. */
export function serveStdio(
  deps: { gateway: Gateway; log: Log; version: string },
  streams: { stdin: Readable; stdout: Writable },
  options: StdioOptions = {},
): StdioService {
  const { stdin, stdout } = streams;
  const { log, version } = deps;
  const { broker, store, answers } = deps.gateway;
  const toolList = createToolList(
    { broker, notifier: store.notifier, log, waits: answers.waits },
    { debounceMs: options.listDebounceMs ?? 250 },
  );
  const gone = new AbortController();
  // Every open request adds a listener.
  setMaxListeners(0, gone.signal);
  // Only a write's callback says that it left the process.
  const writeLine = (text: string): Promise<boolean> =>
    gone.signal.aborted
      ? Promise.resolve(false)
      : new Promise((resolve) => stdout.write(`${text}\n`, (error) => resolve(!error)));
  const write = (message: JSONRPCMessage): Promise<boolean> => writeLine(wellFormedJson(message));
  const channel = { gone: gone.signal, isDirect: true, write, discard: async () => undefined };
  const exchanges = createExchanges({ deliveries: broker, log }, deps.gateway.replay);
  const lines = createLineAssembler(LONGEST_MESSAGE, (line) => void writeLine(refusalOfLong(line)));
  const heard = (text: string): void => {
    const read = readMessage(text);
    if ("message" in read) transport.onmessage?.(read.message);
    else log.debug({ error: read.refusal.error.message }, "a message of the client is refused");
    if ("refusal" in read && read.isAwaited) void write(read.refusal);
  };
  const take = (chunk: Buffer): void => {
    for (const line of lines.push(chunk)) if (line !== undefined) heard(line);
  };
  const transport: Transport = {
    start: async () => void stdin.on("data", take),
    send: async (message) => void (await write(message)),
    async close() {
      stdin.off("data", take).pause();
      transport.onclose?.();
    },
  };

  const session = openMcpSession(
    { broker, exchanges, toolList, log, version, answers, progress: options.progress },
    {
      principal: options.principal ?? "local",
      caller: { id: `stdio:${randomUUID()}`, transport: "stdio" },
      selection: createEditorSelection(),
      folder: options.folder,
    },
    {
      transport,
      notify: async (message) => {
        await write(message);
      },
      channelOf: () => channel,
    },
  );
  // Who read its first message paused it, and a listener alone does not start it again.
  stdin.resume();

  let reason: StdioEnd | undefined;
  const end = (why: StdioEnd): Promise<void> => {
    if (reason === undefined) {
      reason = why;
      log.debug({ reason }, "the stdio session ends");
      if (why !== "closed") session.inputEnded();
      if (why === "output_failed") gone.abort();
    }
    const ended = session.close(CLOSE_DEADLINE_MS);
    deps.gateway.stopWaiting();
    return ended;
  };
  const inputEnded = (): void => void end("input_ended");
  const outputFailed = (): void => void end("output_failed");
  stdin.once("end", inputEnded).once("close", inputEnded).once("error", inputEnded);
  // Never removed: a late EPIPE without a listener would end the process.
  stdout.on("error", outputFailed).on("close", outputFailed);

  const closed = session.closed.then(async () => {
    await exchanges.close(0);
    toolList.close();
    stdin.off("end", inputEnded).off("close", inputEnded);
    stdout.off("close", outputFailed);
    return reason ?? "closed";
  });
  return { closed, close: () => end("closed") };
}

// Stateless requests on a connection that carries those of a session too: each message is served by what it says it is.

/** The client at the other end. */
export interface ConnectedClient {
  principal: string;
  request(id: RequestId): OpenRequest;
  folders: readonly string[];
  /** Called with what it calls itself. */
  introduced(info: Implementation): void;
}

/** Serves the stateless requests of a transport; the answer is what is left of it for the server of a session. */
function serveStateless(deps: McpServerDeps, client: ConnectedClient, whole: Transport): Transport {
  const { principal, folders } = client;
  const server = createStatelessServer(deps);

  const answer = async (message: JSONRPCRequest): Promise<JSONRPCMessage> => {
    const info = message.params?._meta?.[CLIENT_KEY];
    if (isImplementation(info)) client.introduced(info);
    const request = client.request(message.id);
    const notify = (method: string, params: Record<string, unknown>): void =>
      void whole.send({ jsonrpc: "2.0", method, params }, { relatedRequestId: message.id });
    return server.answer({ principal, message, request, folders, notify });
  };

  const rest: Transport = {
    async start() {
      whole.onmessage = (message, extra) => {
        const stateless = isRequest(message) ? answerTo(message, answer) : undefined;
        if (!stateless) rest.onmessage?.(message, extra);
        else
          stateless
            .then((said) => whole.send(said))
            .catch((error: Error) => deps.log.debug({ error: error.message }, "an answer was not written"));
      };
      whole.onerror = (error) => rest.onerror?.(error);
      whole.onclose = () => rest.onclose?.();
      await whole.start();
    },
    send: (message, options) => whole.send(message, options),
    close: () => whole.close(),
  };
  return rest;
}

/** Undefined if the request belongs to a session. */
function answerTo(
  message: JSONRPCRequest,
  answer: (message: JSONRPCRequest) => Promise<JSONRPCMessage>,
): Promise<JSONRPCMessage> | undefined {
  // There are no headers here: a POST of the body alone says the same.
  const outcome = classifyInboundRequest({ httpMethod: "POST", body: message });
  const refused = async (error: {
    code: number;
    message: string;
    data?: unknown;
  }): Promise<JSONRPCMessage> => ({
    jsonrpc: "2.0",
    id: message.id,
    error,
  });
  if (outcome.kind === "legacy" || (outcome.kind === "reject" && outcome.rung === "jsonrpc-shape"))
    return undefined;
  if (outcome.kind === "reject") {
    const { code, message: why, data } = outcome;
    return refused({ code, message: why, data });
  }
  const { revision } = outcome.classification;
  return revision === REVISION ? answer(message) : refused(unsupported(revision));
}

function isImplementation(info: unknown): info is Implementation {
  return (
    typeof info === "object" &&
    info !== null &&
    "name" in info &&
    typeof info.name === "string" &&
    "version" in info &&
    typeof info.version === "string"
  );
}

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
