/** The MCP sessions of one HTTP gateway: opened by clients, adopted from the store, closed when unused. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthInfo } from "@modelcontextprotocol/sdk/server/auth/types.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { Sessions, StoredSession } from "../../../shared/store/sessions.js";
import { createEditorSelection } from "../../call-reader.js";
import { type HttpWay, sendResponse, watchExchange, webRequest } from "../http/http-exchange.js";
import { type McpSession, openMcpSession } from "../mcp-session.js";
import type { Channel } from "../request-tracker.js";
import type { McpServerDeps } from "../server-deps.js";
import {
  asWebRequest,
  type Resumed,
  refuseStream,
  type StreamRequest,
  streamRequest,
} from "./request-stream.js";
import { storedInitialize } from "./stored-initialize.js";

interface HttpSession {
  readonly id: string;
  /**
   * Answers one HTTP request of this session; resolves when the response ended. Call it once each time the session was
   * opened or found: the request counts from there, so that the session is in use until it is answered.
   */
  handle(request: IncomingMessage, raw: ServerResponse, body: unknown): Promise<void>;
}

export interface HttpSessions {
  /** A new session for a client's `initialize`. */
  open(principal: string): HttpSession;
  /** A session of this principal, adopted from an earlier gateway if necessary; undefined if there is none. */
  find(id: string, principal: string): Promise<HttpSession | undefined>;
  /** Answers open waits as if their time was over, then closes every session; takes at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

export interface HttpSessionsOptions {
  /** A session without requests or streams for this long leaves memory; the store keeps it. */
  idleMs: number;
  /** A client without requests or streams for this long is not shown as connected: few end their session when they leave. */
  quietMs?: number | undefined;
  /** Most sessions of one principal in memory. */
  mostOfOne?: number | undefined;
  /** How often a comment is sent on open streams. */
  keepAliveMs: number;
}

const MOST_OF_ONE = 100;

/** Shortest time between two updates of a session's last use in the store. */
const TOUCH_MS = 60_000;

const QUIET_MS = 60_000;

/** Open requests and streams of a session, including those that wait for its adoption. */
interface Exchanges {
  open: number;
}

interface Held extends HttpSession {
  principal: string;
  mcp: McpSession;
  exchanges: Exchanges;
  /** Monotonic ms. */
  lastUsedAt: number;
  /** Replays the `initialize` of its earlier life. */
  revive(initialize: unknown): Promise<boolean>;
}

export function createHttpSessions(
  deps: McpServerDeps & { sessions: Sessions },
  options: HttpSessionsOptions,
): HttpSessions {
  const { log, sessions } = deps;
  const { quietMs = QUIET_MS } = options;
  const held = new Map<string, Held>();
  /** By principal and id: a request for another principal's session must not get the session that others wait for. */
  const adoptions = new Map<string, { exchanges: Exchanges; session: Promise<Held | undefined> }>();

  /** `stored`: its state from an earlier gateway. */
  const create = (id: string, principal: string, exchanges: Exchanges, stored?: StoredSession): Held => {
    let initialize = stored?.initialize;
    const selection = createEditorSelection(
      {
        read: () => sessions.peek(id, principal),
        write: (selected) => sessions.change(id, { principal, initialize, selected }),
      },
      stored?.selected,
    );
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      keepAliveMs: options.keepAliveMs,
      async onsessioninitialized() {
        held.set(id, session);
        leaveUnused(principal);
        if (stored) return;
        await sessions
          .save(id, { principal, initialize })
          .catch((error: unknown) => log.warn({ error: (error as Error).message }, "session not stored"));
      },
      async onsessionclosed() {
        await sessions
          .remove(id, principal)
          .catch((error: unknown) => log.warn({ error: (error as Error).message }, "session not removed"));
      },
    });
    const mcp = openMcpSession(
      deps,
      {
        ...{ principal, caller: { id: `mcp:${id}`, transport: "http" }, selection },
        isHere: () => exchanges.open > 0 || performance.now() - session.lastUsedAt < quietMs,
      },
      {
        transport,
        notify: (message, related) =>
          transport.send(
            message,
            related?.relatedRequestId === undefined ? {} : { relatedRequestId: related.relatedRequestId },
          ),
        channelOf: (extra) => extra?.authInfo?.extra?.channel as Channel,
      },
    );
    void mcp.closed.then(() => {
      if (held.get(id) === session) held.delete(id);
    });
    const channel = ({ written, ...way }: HttpWay, asked: StreamRequest): Channel => ({
      ...way,
      isResumed: asked.isResumed === true,
      logId: asked.stream?.logId,
      underWay: (waited) => asked.stream?.underWay(waited),
      async write(answer) {
        asked.stream?.answering();
        await transport.send(answer);
        return written;
      },
      async discard(answer) {
        asked.stream?.givenUp();
        const requestId = idIn(answer);
        if (requestId !== undefined) transport.closeSSEStream(requestId);
        // Fails, but forgets the request while failing.
        await transport.send(answer);
      },
    });

    let touchedAt = performance.now();
    /** Updates the last use in the store, which decides which of a principal's sessions are kept. */
    const touched = (): void => {
      if (performance.now() - touchedAt < TOUCH_MS) return;
      touchedAt = performance.now();
      sessions
        .touch(id, principal)
        .catch((error: unknown) => log.debug({ error: (error as Error).message }, "session not renewed"));
    };

    const session: Held = {
      id,
      principal,
      mcp,
      exchanges,
      lastUsedAt: performance.now(),

      async handle(request, raw, body) {
        try {
          touched();
          const asked = streamRequest(id, request, body);
          if (typeof asked === "string") return refuseStream(raw, asked);
          const exchange = watchExchange(raw);
          if (!held.has(id)) initialize ??= storedInitialize(body);
          // The newest stream wins: one whose client vanished silently must not keep the client out.
          if (asked.body === undefined && request.method === "GET") transport.closeStandaloneSSEStream();
          const repeated = requestIdOf(asked.body);
          if (repeated !== undefined) transport.closeSSEStream(repeated);
          const response = await transport.handleRequest(asWebRequest(request, asked.body), {
            parsedBody: asked.body,
            authInfo: carry(channel(exchange, asked), asked.resumed),
          });
          await sendResponse(response, raw, asked.stream);
          if (!held.has(id)) await mcp.close(0);
        } finally {
          exchanges.open -= 1;
          session.lastUsedAt = performance.now();
        }
      },

      async revive(stored) {
        const response = await transport.handleRequest(
          webRequest({
            method: "POST",
            headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
          }),
          {
            parsedBody: stored,
            authInfo: carry(channel(NOWHERE, { body: stored })),
          },
        );
        await response.text();
        return response.ok;
      },
    };
    return session;
  };

  /** Drops the longest unused of a principal's sessions beyond the limit; the store keeps it. */
  const leaveUnused = (principal: string): void => {
    const own = [...held.values()].filter((session) => session.principal === principal);
    if (own.length <= (options.mostOfOne ?? MOST_OF_ONE)) return;
    const [oldest] = own
      .filter(({ exchanges }) => exchanges.open === 0)
      .toSorted((a, b) => a.lastUsedAt - b.lastUsedAt);
    if (!oldest) return;
    held.delete(oldest.id);
    void oldest.mcp.close(0);
  };

  const adopt = async (id: string, principal: string, exchanges: Exchanges): Promise<Held | undefined> => {
    const stored = await sessions.load(id, principal);
    if (!stored) return undefined;
    const session = create(id, principal, exchanges, stored);
    let isRevived = false;
    try {
      isRevived = await session.revive(stored.initialize);
    } finally {
      if (!isRevived) await session.mcp.close(0);
    }
    if (!isRevived) return undefined;
    session.mcp.introduced();
    log.info({ session: id }, "took over a session of an earlier gateway");
    return session;
  };

  const beginAdoption = (key: string, id: string, principal: string) => {
    const exchanges: Exchanges = { open: 0 };
    const session = adopt(id, principal, exchanges).finally(() => adoptions.delete(key));
    const adoption = { exchanges, session };
    adoptions.set(key, adoption);
    return adoption;
  };

  const sweep = setInterval(
    () => {
      for (const session of held.values()) {
        if (session.exchanges.open > 0 || performance.now() - session.lastUsedAt < options.idleMs) continue;
        log.debug({ session: session.id }, "closing an unused session");
        held.delete(session.id);
        void session.mcp.close(0);
      }
    },
    Math.min(options.idleMs, 60_000),
  );
  sweep.unref();

  return {
    open: (principal) => create(randomUUID(), principal, { open: 1 }),

    async find(id, principal) {
      const known = held.get(id);
      if (known && known.principal !== principal) return undefined;
      if (known) {
        known.exchanges.open += 1;
        return known;
      }
      const key = JSON.stringify([principal, id]);
      const adoption = adoptions.get(key) ?? beginAdoption(key, id, principal);
      adoption.exchanges.open += 1;
      return adoption.session;
    },

    async close(deadlineMs) {
      clearInterval(sweep);
      await Promise.all([...held.values()].map(({ mcp }) => mcp.close(deadlineMs)));
    },
  };
}

/** The channel of a request that no client sent. */
const NOWHERE: HttpWay = {
  gone: new AbortController().signal,
  isDirect: false,
  written: Promise.resolve(true),
  trace: undefined,
};

/** The request tracker's data travels with the request as the SDK's `authInfo`. */
function carry(channel: Channel, resumed?: Resumed): AuthInfo {
  return { token: "", clientId: "", scopes: [], extra: { channel, resumed } };
}

function requestIdOf(body: unknown): RequestId | undefined {
  return typeof body === "object" && body !== null && "method" in body ? idIn(body) : undefined;
}

function idIn(message: object): RequestId | undefined {
  const id = "id" in message ? message.id : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
