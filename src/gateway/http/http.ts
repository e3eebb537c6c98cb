/** The HTTP surface of a gateway: one fastify app, for this machine only unless tokens authenticate callers. */
import { setMaxListeners } from "node:events";
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from "fastify";
import { BrokerError, ERRORS } from "../../shared/errors.js";
import type { Log } from "../../shared/telemetry.js";
import { RPC_INVALID_REQUEST } from "../../shared/wire/rpc.js";
import type { Authenticator } from "../auth/authenticator.js";
import { createBrowserLogins } from "../auth/browser-logins.js";
import { createRequestRate } from "../auth/request-rate.js";
import { createRouteGuard, ROUTE_GUARD_DEFAULTS, type RouteGuardOptions } from "../auth/route-guard.js";
import { createExchanges } from "../exchange.js";
import type { Gateway } from "../gateway.js";
import { mcpRoutes, refuse, refuseWith } from "../mcp/http/http-routes.js";
import type { ProgressOptions } from "../mcp/progress-notifier.js";
import { createHttpSessions } from "../mcp/revision-2025/http-sessions.js";
import { createStatelessHttp } from "../mcp/revision-2026/http.js";
import { refusal } from "../mcp/tools/tool-answer.js";
import { createToolList } from "../mcp/tools/tool-list.js";
import { HEALTH_PATHS } from "../operators/health.js";
import type { LoginOptions } from "../operators/login-routes.js";
import { operatorRoutes } from "../operators/operator-routes.js";
import { createRestExchanges } from "../rest/exchange.js";
import { BASE } from "../rest/operation-answer.js";
import { rawProblem, sendHttpProblem, sendProblem } from "../rest/problem.js";
import { restRoutes } from "../rest/rest-routes.js";
import { addressRefused, isLoopback, portInUse } from "./loopback.js";

// What is answered to what reaches no route: on every surface in its own form, never in that of the framework.

/** fastify's `frameworkErrors`: a path that no router can read. No hook runs before it. */
function refusePath(error: FastifyError, { raw }: FastifyRequest, reply: FastifyReply): void {
  const isTooLong = error.statusCode === 414;
  const what = isTooLong ? "A part of the path is too long." : "The path is not one of a URL.";
  // Nobody else ends the connection of a refused upgrade.
  if (raw.headers.upgrade !== undefined) reply.raw.once("finish", () => raw.socket.destroySoon());
  sendProblem(reply, new BrokerError("INVALID_ARGUMENTS", what), isTooLong ? 414 : undefined);
}

/** fastify's `clientErrorHandler`: what is no HTTP, or came too slowly. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  const { _httpMessage: answering } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  // Behind a part of another answer it would be read as the rest of that.
  if (socket.writable && error.code !== "ECONNRESET" && answering?.headersSent !== true) {
    const [status, detail] = REFUSED.get(error.code ?? "") ?? [400, "This is not a request of HTTP/1.1."];
    socket.write(rawProblem(status, detail));
  }
  socket.destroy();
}

const REFUSED: ReadonlyMap<string, readonly [number, string]> = new Map([
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "The request took too long to arrive."]],
  ["HPE_HEADER_OVERFLOW", [431, "The headers are too large."]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", [413, "The extensions of a chunk are too large."]],
]);

/** For what no surface answers itself. */
function refuseUnrouted(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler((request, reply) => {
    const { method, url } = request;
    if (url.split("?")[0] !== "/mcp")
      return sendHttpProblem(reply, 404, `There is no ${method} ${url.slice(0, 200)} here.`);
    reply.header("allow", "GET, POST, DELETE");
    refuse(reply, 405, RPC_INVALID_REQUEST, `/mcp has no ${method}.`);
    return reply;
  });
  app.setErrorHandler((error: FastifyError, _request, reply) =>
    !(error instanceof BrokerError) && error.statusCode !== undefined && error.statusCode < 500
      ? sendHttpProblem(reply, error.statusCode, error.message)
      : sendProblem(reply, refusal(error, log)),
  );
}

export interface HttpGatewayOptions {
  /** Without `auth` a loopback address or name. */
  host: string;
  /** 0: any free port. */
  port: number;
  idleMs?: number;
  /** A client without requests or streams for this long is not shown as connected. */
  quietMs?: number;
  keepAliveMs?: number;
  progress?: ProgressOptions;
  listDebounceMs?: number;
  bodyLimit?: number;
  /** A request whose headers or body take longer to arrive is ended, ms. */
  headersMs?: number;
  requestMs?: number;
  /** Most requests and messages of one principal in a second; this user's own are not counted. */
  callsPerSecond?: number;
  routeGuard?: Partial<RouteGuardOptions>;
  login?: Partial<LoginOptions>;
}

export interface HttpGateway {
  /** The MCP endpoint. */
  url: string;
  /** Answers open waits as if their time was over, then closes; sessions stay in the store for the next gateway. */
  close(): Promise<void>;
}

/** Each socket takes one of the process's limited file descriptors. */
const MAX_CONNECTIONS = 4_000;
/** How long open requests may take to be answered when closing. */
const CLOSE_DEADLINE_MS = 3_000;

/** Listens; rejects with ADDRESS_REFUSED or PORT_IN_USE. Without `auth` everybody is the principal `local`. */
export async function createHttpGateway(
  deps: {
    gateway: Gateway;
    log: Log;
    version: string;
    auth?: Authenticator | undefined;
  },
  options: HttpGatewayOptions,
): Promise<HttpGateway> {
  const { host, port } = options;
  const isPrivate = isLoopback(host);
  if (!isPrivate && !deps.auth) throw addressRefused(host);
  const { log, version } = deps;
  const { broker, store, answers } = deps.gateway;
  const app = fastify({
    logger: false,
    forceCloseConnections: true,
    frameworkErrors: refusePath,
    clientErrorHandler: refuseConnection,
    // A job's id is part of its page's path, and longer than the default of 100.
    routerOptions: { maxParamLength: 400 },
    // Limits how long a request may take to arrive, not how long it may wait for its answer.
    requestTimeout: options.requestMs ?? 30_000,
    http: { headersTimeout: options.headersMs ?? 10_000, connectionsCheckingInterval: 1_000 },
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  // A body that no surface reads is not parsed.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _body, done) => done(null));
  refuseUnrouted(app, log);
  const routeGuard = createRouteGuard(app.server, deps.auth, {
    ...ROUTE_GUARD_DEFAULTS,
    ...options.routeGuard,
  });
  const logins = deps.auth && createBrowserLogins(deps.auth, store.logins);
  app.decorateRequest("identity");
  const rate = await createRequestRate(app, options.callsPerSecond ?? 100);
  const toolList = createToolList(
    { broker, notifier: store.notifier, log, waits: answers.waits },
    { debounceMs: options.listDebounceMs ?? 250 },
  );
  const exchanges = createExchanges({ deliveries: broker, log }, deps.gateway.replay);
  const served = { broker, exchanges, toolList, log, version, answers, progress: options.progress };
  const keepAliveMs = options.keepAliveMs ?? 15_000;
  const sessions = createHttpSessions(
    { ...served, sessions: store.sessions },
    { idleMs: options.idleMs ?? 30 * 60_000, quietMs: options.quietMs, keepAliveMs },
  );
  const stateless = createStatelessHttp(served, { keepAliveMs });
  const restExchanges = createRestExchanges({ exchanges, log });
  const bodyLimit = options.bodyLimit ?? 4 * 1024 * 1024;
  const closing = new AbortController();
  // Each stream listens.
  setMaxListeners(0, closing.signal);
  let isClosing = false;

  // A web page in a browser can send requests here, even under its own name (DNS rebinding).
  app.addHook("onRequest", async (request, reply) => {
    const { host: named = "", origin } = request.headers;
    const isOwnPage = (page: string): boolean =>
      isPrivate
        ? isLoopback(hostOf(page))
        : hostOf(page) !== undefined && hostOf(page) === hostOf(`http://${named}`);
    const wrong =
      isPrivate && !isLoopback(hostOf(`http://${named}`))
        ? `The Host header ${named} is refused.`
        : origin !== undefined && !isOwnPage(origin)
          ? `The Origin ${origin} is refused.`
          : undefined;
    const isRest = request.url.startsWith(`${BASE}/`);
    const closes = isClosing && !HEALTH_PATHS.includes(request.url);
    const refused = wrong
      ? new BrokerError("ADDRESS_REFUSED", wrong)
      : closes && new BrokerError("BROKER_ENDED", "The gateway is closing; operations go on.");
    if (!refused) return undefined;
    if (isRest) return sendProblem(reply, refused);
    refuseWith(reply, refused);
    return reply;
  });
  // A refused client has nothing more to send, or sends slowly to hold the connection.
  app.addHook("onSend", async (_request, reply) => {
    if (reply.statusCode === 401 || reply.statusCode === ERRORS.ADDRESS_REFUSED.http)
      reply.header("connection", "close");
  });
  // The connection of a refused upgrade is not the HTTP server's any more: nobody else would end it.
  app.addHook("onResponse", async ({ raw }) => {
    if (raw.headers.upgrade !== undefined) raw.socket.destroySoon();
  });
  await app.register(operatorRoutes, {
    gateway: deps.gateway,
    routeGuard: routeGuard,
    rate,
    logins,
    login: options.login,
    isClosing: () => isClosing,
  });
  await app.register(async (guarded) => {
    guarded.addHook("onRequest", routeGuard.guard("Bearer", refuseWith));
    guarded.addHook("onRequest", rate.hook);
    await guarded.register(mcpRoutes, {
      sessions,
      stateless,
      log,
      bodyLimit,
    });
  });
  await app.register(restRoutes, {
    prefix: BASE,
    ...{ broker, store, routeGuard, logins, rate, log, version, bodyLimit, keepAliveMs },
    exchanges: restExchanges,
    closing: closing.signal,
    waits: answers.waits,
    audit: deps.gateway.audit,
    principals: deps.auth,
  });

  const close = async (): Promise<void> => {
    isClosing = true;
    closing.abort();
    toolList.close();
    routeGuard.close();
    const ended = Promise.all([sessions, exchanges].map((each) => each.close(CLOSE_DEADLINE_MS)));
    deps.gateway.stopWaiting();
    await ended;
    await broker.noted();
    await app.close();
  };
  try {
    return { url: `${await app.listen({ host, port })}/mcp`, close };
  } catch (error) {
    await close();
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw portInUse(host, port, error);
  }
}

/** The host name of an origin; undefined if it has none. */
function hostOf(origin: string): string | undefined {
  try {
    const url = new URL(origin);
    return url.username === "" && url.pathname === "/" ? url.hostname : undefined;
  } catch {
    return undefined;
  }
}
