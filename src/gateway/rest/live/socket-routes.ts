/** The WebSocket: calls, and the events of several operations, over one connection. */

import { EventEmitter, setMaxListeners } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import { head, wellFormedJson } from "../../../shared/printable.js";
import type { Log } from "../../../shared/telemetry.js";
import type { WaitLimits } from "../../../shared/wait-time.js";
import { isOwnOrigin } from "../../auth/own-page.js";
import type { RequestRate } from "../../auth/request-rate.js";
import type { Broker } from "../../broker.js";
import { UNREAD_MS } from "../../events/event-stream.js";
import type { LiveEvent } from "../../events/live-event.js";
import { isDirect, onReset } from "../../mcp/http/http-exchange.js";
import { bodyIn, clausesOf, envelopeIn } from "../../mcp/read-message.js";
import type { RestCall, RestExchanges } from "../exchange.js";
import { operationAnswer } from "../operation-answer.js";
import { ownToolOf } from "../own-tool.js";
import { problemFrom, rawProblem, sendHttpProblem, sendProblem } from "../problem.js";
import type { RestAnswer } from "../rest-answer.js";
import { Call, submit } from "../routes/submit.js";
import { Filter } from "./event-routes.js";
import { type FollowDeps, followedEvents, followedOperation } from "./followed.js";

// The messages of the WebSocket: what a client sends, each with an id of its own, and what it is answered.

/** Comes back with the answer. */
const MessageId = z.union([z.string().max(200), z.number()]);
const id = MessageId.optional();
const logId = z.string().max(200);

const ClientMessage = z.discriminatedUnion("type", [
  /** `follow`: and from its first event on. */
  Call.extend({ type: z.literal("submit"), id, follow: z.boolean().default(false) }),
  z.strictObject({ type: z.literal("read"), id, log_id: logId, wait: z.number().min(0).optional() }),
  z.strictObject({ type: z.literal("cancel"), id, log_id: logId }),
  /** Without a log_id: everything that the filter names. `after`: the id of the last event that was received. */
  z.strictObject({
    type: z.literal("follow"),
    id,
    log_id: logId.optional(),
    after: z.string().max(200).optional(),
    filter: Filter.optional(),
  }),
  /** The same log_id, or none. */
  z.strictObject({ type: z.literal("unfollow"), id, log_id: logId.optional() }),
]);
type ClientMessage = z.output<typeof ClientMessage>;

type ServerMessage =
  /** As the REST API answers the same request. */
  | { type: "answer"; id?: string | number | undefined; status: number; body?: unknown }
  /** `event_id`: for `after`. */
  | { type: "event"; log_id?: string | undefined; event_id?: string; event: string; data: unknown };

export interface SocketRoutesDeps extends FollowDeps {
  broker: Broker;
  exchanges: RestExchanges;
  waits: WaitLimits;
  rate: RequestRate;
  log: Log;
  /** Aborted when the gateway closes. */
  closing: AbortSignal;
  keepAliveMs: number;
  bodyLimit: number;
}

/** Most messages of one connection that are answered at once; those after them wait in the connection. */
const MOST_AT_ONCE = 256;
/** Most operations that one connection follows. */
const MOST_FOLLOWED = 100;
/** Most bytes that a client may leave unread, some of the largest messages; its connection ends then. */
const MOST_UNREAD = 8 * 1024 * 1024;
/** Of RFC 6455: the service ends; it failed; the client is too slow. */
const [GOING_AWAY, INTERNAL_ERROR, TRY_AGAIN_LATER] = [1001, 1011, 1013];

export async function socketRoutes(app: FastifyInstance, deps: SocketRoutesDeps): Promise<void> {
  const server = webSocketUpgrades(app.server) as typeof app.server;
  await app.register(websocket, { options: { server, maxPayload: deps.bodyLimit } });
  app.websocketServer.on("wsClientError", (error, socket) =>
    socket.end(rawProblem(400, `${error.message}.`, { "sec-websocket-version": "13" })),
  );
  for (const url of ["/ws", "/react/ws/async"])
    app.route({
      method: "GET",
      url,
      exposeHeadRoute: false,
      schema: { hide: true } as object,
      onRequest: ownPagesOnly,
      handler: async (_request, reply) =>
        sendHttpProblem(
          reply.headers({ connection: "upgrade, close", upgrade: "websocket" }),
          426,
          "Open a WebSocket here.",
        ),
      wsHandler: (socket, request) => serve(socket, request, deps),
    });
}

/** A browser asks nobody (CORS) before a page of another port opens a WebSocket, and sends the password that it knows. */
async function ownPagesOnly(
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  if (isOwnOrigin(headers)) return undefined;
  return sendProblem(reply, new BrokerError("ADDRESS_REFUSED", `The Origin ${headers.origin} is refused.`));
}

function serve(socket: WebSocket, request: FastifyRequest, deps: SocketRoutesDeps): void {
  const { closing, exchanges, log } = deps;
  const gone = new AbortController();
  // Each open message and each follower listens.
  setMaxListeners(0, gone.signal);
  const followed = new Map<string, AbortController>();
  const run = ownToolOf(deps);

  const send = (message: ServerMessage): Promise<boolean> => {
    if (socket.bufferedAmount > MOST_UNREAD) socket.close(TRY_AGAIN_LATER, "The events are not read.");
    return new Promise((resolve) => socket.send(wellFormedJson(message), (error) => resolve(!error)));
  };
  const answer = async (id: ClientMessage["id"], { status, body }: RestAnswer): Promise<boolean> =>
    send({
      type: "answer",
      ...(id === undefined ? {} : { id }),
      status,
      ...(body === undefined ? {} : { body }),
    });

  const follow = async (
    key: string,
    start: (signal: AbortSignal) => Promise<AsyncIterable<LiveEvent> | undefined>,
  ) => {
    if (followed.size >= MOST_FOLLOWED && !followed.has(key))
      throw new BrokerError("RATE_LIMITED", `One connection follows at most ${MOST_FOLLOWED} operations.`);
    followed.get(key)?.abort();
    const ended = new AbortController();
    followed.set(key, ended);
    const stop = (): void => ended.abort();
    const forget = (): void => {
      gone.signal.removeEventListener("abort", stop);
      if (followed.get(key) === ended) followed.delete(key);
    };
    gone.signal.addEventListener("abort", stop, { once: true });
    // It may be gone already: no further event says so.
    if (gone.signal.aborted) stop();
    const events = await start(ended.signal).catch((error: unknown) => {
      forget();
      throw error;
    });
    const pass = async (): Promise<void> => {
      for await (const { event, id, data } of events ?? [])
        await send({
          type: "event",
          ...(key === EVERYTHING ? {} : { log_id: key }),
          ...(id === undefined ? {} : { event_id: id }),
          event,
          data,
        });
    };
    void pass()
      .catch((error: Error) => {
        log.debug({ error: error.message }, "events were not sent");
        // Else its client would wait for events that nobody reads.
        socket.close(INTERNAL_ERROR, "The events cannot be read: connect again.");
      })
      .finally(forget);
  };

  const followOne = (
    principal: RestCall["principal"],
    logId: string,
    after: string | undefined,
  ): Promise<void> =>
    follow(logId, async (signal) => {
      const one = await followedOperation(deps, principal, logId, after);
      return one.kind === "over" ? undefined : one.follow({ from: after, signal });
    });

  /** As the REST API answers it. */
  const handle = async (message: ClientMessage, call: RestCall): Promise<RestAnswer> => {
    const { principal } = call;
    switch (message.type) {
      case "submit": {
        const { type: _type, id: _id, follow: follows, ...asked } = message;
        const answered = await submit(deps, asked, {}, call);
        const { log_id: logId } = (answered.body ?? {}) as { log_id?: string };
        if (follows && logId !== undefined && answered.status < 300)
          await followOne(principal, logId, undefined);
        return answered;
      }
      case "read": {
        const waiting = message.wait === undefined ? {} : { wait: true, timeout: message.wait };
        return operationAnswer(
          await run("get_operation_result", { log_id: message.log_id, ...waiting }, call),
        );
      }
      case "cancel":
        return operationAnswer(await run("cancel_operation", { log_id: message.log_id }, call));
      case "follow": {
        const { log_id: logId, after, filter = {} } = message;
        if (logId !== undefined) await followOne(principal, logId, after);
        else
          await follow(EVERYTHING, async (signal) => {
            const now = (await deps.principals?.find(principal.id)) ?? principal;
            return followedEvents(deps, now, filter)({ from: after, signal });
          });
        return { status: 200, body: {} };
      }
      case "unfollow": {
        const key = message.log_id ?? EVERYTHING;
        followed.get(key)?.abort();
        followed.delete(key);
        return { status: 200, body: {} };
      }
    }
  };

  // While something is unread nothing is added: the connection ends if its client reads none of it for so long.
  const alive = setInterval(() => socket.bufferedAmount === 0 && socket.ping(), deps.keepAliveMs);
  request.raw.socket.setTimeout(UNREAD_MS, () => socket.bufferedAmount > 0 && socket.terminate());
  const leave = (): void => socket.close(GOING_AWAY, "The gateway is closing; operations go on.");
  closing.addEventListener("abort", leave, { once: true });
  socket.on("close", () => {
    clearInterval(alive);
    closing.removeEventListener("abort", leave);
    gone.abort();
  });
  socket.on("error", (error) => log.debug({ error: error.message }, "a WebSocket failed"));
  const take = async (text: string): Promise<unknown> => {
    const { id, message } = readMessage(text);
    try {
      // One that cannot be read counts too.
      const refused = await deps.rate.refused(request);
      if (refused) throw refused;
      if (message instanceof BrokerError) throw message;
      const way = {
        gone: gone.signal,
        isDirect: isDirect(request.raw),
        onReset: (callback: () => void) => onReset(request.raw.socket, callback),
        write: (answered: RestAnswer) => answer(id, answered),
      };
      return await exchanges.serveMessage(request, way, (call) => handle(message, call));
    } catch (error) {
      return answer(id, problemFrom(error, log));
    }
  };
  let answering = 0;
  const answered = (): void => {
    answering -= 1;
    if (answering < MOST_AT_ONCE) socket.resume();
  };
  socket.on("message", (data) => {
    answering += 1;
    if (answering >= MOST_AT_ONCE) socket.pause();
    void take(String(data)).finally(answered);
  });
}

/** The key of the follower of everything; no log_id is empty. */
const EVERYTHING = "";

/** The message, or what is wrong with it; `id`: that of a wrong one too, so that its sender learns of it. */
function readMessage(text: string): { id: ClientMessage["id"]; message: ClientMessage | BrokerError } {
  const wrong = (what: string): BrokerError => new BrokerError("INVALID_ARGUMENTS", `The message ${what}.`);
  let json: unknown;
  try {
    json = bodyIn(text);
  } catch (error) {
    return { id: MessageId.safeParse(envelopeIn(text)?.id).data, message: error as BrokerError };
  }
  const read = ClientMessage.safeParse(json);
  if (read.success) return { id: read.data.id, message: read.data };
  const id = MessageId.safeParse((json as { id?: unknown } | null)?.id).data;
  return { id, message: wrong(`is wrong: ${head(clausesOf(read.error.issues).join("; "), 1_000)}`) };
}

// Which requests to change the protocol a gateway takes: those for a WebSocket. Any other is answered as if it did not ask (RFC 9110,
// 7.8). Some clients, such as Java's own, ask with their first request for HTTP/2; Node would not read its body.

/** Emits `upgrade` for WebSockets only. */
function webSocketUpgrades(server: Server): EventEmitter {
  const taken = new EventEmitter();
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.trim().toLowerCase() === "websocket" && request.method === "GET") {
      taken.emit("upgrade", request, socket, head);
      return;
    }
    // Read again from its first byte.
    socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), "latin1"), head]));
    server.emit("connection", socket);
  });
  return taken;
}

/** What only says that the protocol is to change. */
const OF_UPGRADES = ["upgrade", "connection", "http2-settings"];

function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  // A connection is read again once, so that what listens to it does not grow.
  const lines = [`${method} ${url} HTTP/${httpVersion}`, "connection: close"];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!OF_UPGRADES.includes(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}
