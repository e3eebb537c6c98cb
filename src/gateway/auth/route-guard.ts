/** Guards routes: authenticates each request, ends it when its token is revoked, and limits a principal's open requests. */
import type { Server } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import { type Authenticator, authenticate, type Logged } from "./authenticator.js";
import { createOpenRequests } from "./open-requests.js";
import { limitStrangers } from "./strangers.js";

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
