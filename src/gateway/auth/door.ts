/** What a request to a guarded route goes through: its token, and what follows from it while it is open. */
import type { Server } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import { limitStrangers } from "../strangers.js";
import { type Authenticator, authenticate } from "./authenticator.js";
import { createOpenRequests } from "./open-requests.js";

export interface DoorOptions {
  /** Open requests are ended so long after their token at most, ms. */
  revokedMs: number;
  /** Connections at once on which nothing is asked with a token; the oldest gives way. */
  strangers: number;
  /** Requests and streams of one principal at once; this user's own are not counted. */
  openOfOne: number;
}

export const DOOR_DEFAULTS: DoorOptions = { revokedMs: 1_000, strangers: 256, openOfOne: 256 };

export interface Door {
  /** The hook of guarded routes (authenticator.ts). */
  guard(
    challenge: "Bearer" | "Basic",
    refuse: (reply: FastifyReply, error: BrokerError) => unknown,
  ): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;
  close(): void;
}

/** `auth`: undefined lets everybody in, as this user. */
export function createDoor(server: Server, auth: Authenticator | undefined, options: DoorOptions): Door {
  const strangers = limitStrangers(server, { most: options.strangers });
  const open = createOpenRequests(auth, { everyMs: options.revokedMs, mostOfOne: options.openOfOne });
  return {
    guard(challenge, refuse) {
      const check = authenticate(auth, challenge, refuse);
      return async (request, reply) => {
        await check(request, reply);
        // A reply cannot be told by its promise: it is one itself, and resolves with nothing.
        if (reply.sent) return reply;
        const { socket } = request.raw;
        strangers.isKnown(socket);
        reply.raw.once("close", () => strangers.wasAnswered(socket));
        if (open.watch(request, reply)) return undefined;
        refuse(reply, new BrokerError("RATE_LIMITED", `${options.openOfOne} of its requests are open.`));
        return reply;
      };
    },
    close: open.close,
  };
}
