/** Authenticates callers over HTTP: the principal that a token names. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import { LOCAL, type Principal } from "../../shared/principal.js";
import { storeFault } from "../../shared/store/connect.js";
import { mayAct } from "./own-page.js";

/** The principals of a gateway, by their ids. */
export interface Principals {
  /** Undefined if there is none or it was revoked. */
  find(id: string): Promise<Principal | undefined>;
}

export interface Authenticator extends Principals {
  /** The token's owner; undefined if the token is missing, wrong or expired. Safe to call for every request. */
  identify(token: string | undefined): Promise<Identity | undefined>;
  /** Is the token of an admitted request still valid? */
  isValid(identity: Identity): Promise<boolean>;
}

/** A principal, and the token that admitted its request. */
export interface Identity {
  principal: Principal;
  /** Unique for the principal. */
  tokenId: string;
  /** Of a request that a login admitted: has that not ended? */
  isLoggedIn?: () => Promise<boolean>;
}

/** Who is logged in with the browser of a request; undefined: nobody. */
export interface Logged {
  identify(request: FastifyRequest): Promise<Identity | undefined>;
}

/** Every caller of a gateway without tokens, which listens on this machine's own addresses only. */
const UNASKED: Identity = { principal: LOCAL, tokenId: "" };

/** Without authentication every name may do everything. */
export const OPEN: Principals = { find: async (id) => ({ ...LOCAL, id, name: id }) };

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `authenticate` before any handler of a guarded route. */
    identity: Identity;
  }
}

/**
 * A hook for guarded routes: sets `request.identity`, or refuses the request with UNAUTHORIZED, TOKENS_UNREADABLE or
 * CROSS_SITE_REQUEST. `challenge` is sent to clients without a token. Browsers show a dialogue for Basic, where the token is
 * the password. `logins`: a browser that is logged in needs no token.
 */
export function authenticate(
  auth: Authenticator | undefined,
  challenge: "Bearer" | "Basic",
  refuse: (reply: FastifyReply, error: BrokerError) => unknown,
  logins?: Logged | undefined,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (!auth) {
      request.identity = UNASKED;
      return undefined;
    }
    const token = tokenIn(request.headers.authorization);
    let identity: Identity | undefined;
    try {
      identity = token === undefined ? await logins?.identify(request) : await auth.identify(token);
    } catch (error) {
      const fault = token === undefined ? storeFault(error) : undefined;
      if (fault) {
        refuse(reply, fault);
        return reply;
      }
      // The caller learns neither the file's path nor its content; the doctor shows them to the file's owner.
      refuse(
        reply,
        new BrokerError("TOKENS_UNREADABLE", "The tokens cannot be read; `unity-broker doctor` says why."),
      );
      return reply;
    }
    if (identity === undefined) {
      reply.header("www-authenticate", `${challenge} realm="Unity Job Broker"`);
      const what =
        token === undefined ? "This request has no token." : "This gateway does not know this token.";
      refuse(reply, new BrokerError("UNAUTHORIZED", what));
      return reply;
    }
    if (token === undefined && !mayAct(request)) {
      refuse(reply, new BrokerError("CROSS_SITE_REQUEST", "This request does not come from the own page."));
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
