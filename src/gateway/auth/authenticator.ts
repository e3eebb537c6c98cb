/** Who a caller over HTTP is: the principal that a token names. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import { LOCAL, type Principal } from "../../shared/principal.js";

/** The principals of a gateway, by their ids. */
export interface Principals {
  /** Undefined: none, or it was revoked. */
  find(id: string): Promise<Principal | undefined>;
}

export interface Authenticator extends Principals {
  /** Whose token it is; undefined: none, a wrong one, or one that has expired. Safe to call for every request. */
  identify(token: string | undefined): Promise<Identity | undefined>;
  /** Is the token still one, of a request that was let in? */
  isValid(identity: Identity): Promise<boolean>;
}

/** A principal, and by which of its tokens a request was let in. */
export interface Identity {
  principal: Principal;
  /** Unique for the principal. */
  tokenId: string;
}

/** Every caller of a gateway without tokens: it listens on this machine's own addresses only. */
const UNASKED: Identity = { principal: LOCAL, tokenId: "" };

/** Nobody is asked who it is: whatever name a call comes under, it may do everything. */
export const OPEN: Principals = { find: async (id) => ({ ...LOCAL, id, name: id }) };

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `authenticate` before any handler of a guarded route. */
    identity: Identity;
  }
}

/**
 * A hook for guarded routes: sets `request.identity`, or has the request refused with UNAUTHORIZED or TOKENS_UNREADABLE.
 * `challenge` is what a client without a token is asked for: browsers have a dialogue for Basic, where the token is the password.
 */
export function authenticate(
  auth: Authenticator | undefined,
  challenge: "Bearer" | "Basic",
  refuse: (reply: FastifyReply, error: BrokerError) => unknown,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (!auth) {
      request.identity = UNASKED;
      return undefined;
    }
    const token = tokenIn(request.headers.authorization);
    let identity: Identity | undefined;
    try {
      identity = await auth.identify(token);
    } catch {
      // A refused caller is not told where the file is, nor what is in it: the doctor tells its owner.
      refuse(
        reply,
        new BrokerError("TOKENS_UNREADABLE", "The tokens cannot be read; `unity-broker doctor` says why."),
      );
      return reply;
    }
    if (identity === undefined) {
      reply.header("www-authenticate", `${challenge} realm="Unity Job Broker"`);
      const what = token === undefined ? "This request has no token." : "This token is not known here.";
      refuse(reply, new BrokerError("UNAUTHORIZED", what));
      return reply;
    }
    request.identity = identity;
    return undefined;
  };
}

/** The token of an Authorization header: Bearer, or the password of Basic. */
export function tokenIn(authorization: string | undefined): string | undefined {
  const [, scheme = "", value = ""] = /^(\w+) +(\S+)$/.exec(authorization ?? "") ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
      return value;
    case "basic":
      return Buffer.from(value, "base64").toString("utf8").split(":").slice(1).join(":") || undefined;
    default:
      return undefined;
  }
}
