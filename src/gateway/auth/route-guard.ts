/** Guards routes: authenticates each request, ends it when its token is revoked, and limits a principal's open requests. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import { LOCAL } from "../../shared/principal.js";
import { type Authenticator, authenticate, type Identity, type Logged } from "./authenticator.js";

// Limits connections without an authenticated request: beyond the limit the oldest is closed.

type Socket = IncomingMessage["socket"];

export interface Strangers {
  /** A request with a valid token arrived: the connection is no stranger's until that is answered. */
  authenticated(socket: Socket): void;
  wasAnswered(socket: Socket): void;
}

/**
 * A program that floods the server with connections only displaces its own; a request with a token finds room. Of more clients than
 * that which connect in one moment, before any of them is read, the first ones connect again.
 */
function limitStrangers(server: Server, { most }: { most: number }): Strangers {
  const strangers = new Set<Socket>();
  const add = (socket: Socket): void => {
    if (socket.destroyed) return;
    strangers.add(socket);
    const [oldest] = strangers;
    if (strangers.size > most) oldest?.destroy();
  };
  server.on("connection", (socket: Socket) => {
    socket.once("close", () => strangers.delete(socket));
    add(socket);
  });
  return { authenticated: (socket) => void strangers.delete(socket), wasAnswered: add };
}

/** Ends open requests and streams once the token or the login that admitted them has ended. */
export interface OpenRequests {
  /** Watches an admitted request; false if its principal has reached its limit of open requests. */
  watch(request: FastifyRequest, reply: FastifyReply): boolean;
  close(): void;
}

/** `everyMs`: how long a stream may outlive its token. The operation that it waited for goes on. */
function createOpenRequests(
  auth: Authenticator | undefined,
  { everyMs, mostOfOne }: { everyMs: number; mostOfOne: number },
): OpenRequests {
  const open = new Map<ServerResponse, Identity>();
  /** Whose login is being looked up: while Redis is away that takes long. */
  const asking = new Set<ServerResponse>();

  const endLoggedOut = async (response: ServerResponse, { isLoggedIn }: Identity): Promise<void> => {
    if (!isLoggedIn || asking.has(response)) return;
    asking.add(response);
    if (!(await isLoggedIn().catch(() => true))) response.destroy();
    asking.delete(response);
  };

  const look = async (): Promise<void> => {
    const valid = new Map<string, Promise<boolean>>();
    for (const [response, identity] of open) {
      const key = JSON.stringify([identity.principal.id, identity.tokenId]);
      // An unreadable file admits nobody, but does not end admitted requests.
      const isValid = valid.get(key) ?? auth?.isValid(identity).catch(() => true) ?? Promise.resolve(true);
      valid.set(key, isValid);
      if (!(await isValid)) response.destroy();
      else void endLoggedOut(response, identity);
    }
  };
  const timer = auth && setInterval(() => void look(), everyMs).unref();

  return {
    watch({ identity }, { raw }) {
      // Its client has left already: no further event will say so.
      if (raw.destroyed) return true;
      const { id } = identity.principal;
      const held = [...open.values()].filter(({ principal }) => principal.id === id).length;
      if (id !== LOCAL.id && held >= mostOfOne) return false;
      open.set(raw, identity);
      raw.once("close", () => open.delete(raw));
      return true;
    },
    close: () => clearInterval(timer),
  };
}

export interface RouteGuardOptions {
  /** How long a request may stay open after its token was revoked, ms. */
  revokedMs: number;
  /** Most connections without an authenticated request; beyond it the oldest is closed. */
  strangers: number;
  /** Most open requests and streams of one principal; this user's own are not counted. */
  openOfOne: number;
}

export const ROUTE_GUARD_DEFAULTS: RouteGuardOptions = { revokedMs: 1_000, strangers: 256, openOfOne: 256 };

export interface RouteGuard {
  /** The hook of guarded routes (authenticator.ts). `logins`: those of browsers that are admitted here as well. */
  guard(
    challenge: "Bearer" | "Basic",
    refuse: (reply: FastifyReply, error: BrokerError) => unknown,
    logins?: Logged | undefined,
  ): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;
  close(): void;
}

/** `auth`: undefined admits everybody, as this user. */
export function createRouteGuard(
  server: Server,
  auth: Authenticator | undefined,
  options: RouteGuardOptions,
): RouteGuard {
  const strangers = limitStrangers(server, { most: options.strangers });
  const open = createOpenRequests(auth, { everyMs: options.revokedMs, mostOfOne: options.openOfOne });
  return {
    guard(challenge, refuse, logins) {
      const check = authenticate(auth, challenge, refuse, logins);
      return async (request, reply) => {
        await check(request, reply);
        // A reply is a thenable that resolves with nothing, so its result does not say whether it was sent.
        if (reply.sent) return reply;
        const { socket } = request.raw;
        strangers.authenticated(socket);
        reply.raw.once("close", () => strangers.wasAnswered(socket));
        if (open.watch(request, reply)) return undefined;
        refuse(reply, new BrokerError("RATE_LIMITED", `${options.openOfOne} of its requests are open.`));
        return reply;
      };
    },
    close: open.close,
  };
}
