/** Who a caller over HTTP is: the principal that a token names. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import type { Band } from "../../shared/operation.js";

export interface Authenticator {
  /** The principal of a token; undefined: none or a wrong one. Safe to call for every request. */
  principalOf(token: string | undefined): Promise<string | undefined>;
  /** Whether somebody waits for this principal's calls, or they are work in bulk that lets others go first. */
  bandOf(principal: string): Promise<Band>;
}

/** Whoever reaches a gateway without tokens: it listens on this machine's own addresses only. */
export const LOCAL_PRINCIPAL = "local";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `authenticate` before any handler of a guarded route. */
    principal: string;
  }
}

/**
 * A hook for guarded routes: sets `request.principal`, or has the request refused with UNAUTHORIZED or TOKENS_UNREADABLE.
 * `challenge` is what a client without a token is asked for: browsers have a dialogue for Basic, where the token is the password.
 */
export function authenticate(
  auth: Authenticator | undefined,
  challenge: "Bearer" | "Basic",
  refuse: (reply: FastifyReply, error: BrokerError) => unknown,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (!auth) {
      request.principal = LOCAL_PRINCIPAL;
      return undefined;
    }
    const token = tokenIn(request.headers.authorization);
    let principal: string | undefined;
    try {
      principal = await auth.principalOf(token);
    } catch {
      // Whoever is not let in is not told where the file is, nor what is in it: the doctor tells its owner.
      refuse(
        reply,
        new BrokerError("TOKENS_UNREADABLE", "The tokens cannot be read; `unity-broker doctor` says why."),
      );
      return reply;
    }
    if (principal === undefined) {
      reply.header("www-authenticate", `${challenge} realm="Unity Job Broker"`);
      const what = token === undefined ? "This request has no token." : "This token is not known here.";
      refuse(reply, new BrokerError("UNAUTHORIZED", what));
      return reply;
    }
    request.principal = principal;
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
