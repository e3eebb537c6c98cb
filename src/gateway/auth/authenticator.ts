/** Authenticates callers over HTTP: the principal that a token names. */

import type { FastifyReply, FastifyRequest } from "fastify";
import picomatch from "picomatch";
import { BrokerError } from "../../shared/errors.js";
import { hasRole, LOCAL, type NameFilter, type Principal } from "../../shared/principal.js";
import { storeFault } from "../../shared/store/connect.js";
import type { Tool } from "../../shared/tools/tool.js";
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

/** What a principal may see and do. Evaluated at each call, so that a change also applies to open sessions. */
export interface Permissions {
  principal: Principal;
  /** An Editor that it may not use is unknown to it. */
  sees(editorId: string): boolean;
  /** It may use every Editor, also those that are not known yet. */
  seesAll: boolean;
  /** Why it may not call a tool; undefined if it may. */
  refusal(tool: Pick<Tool, "name" | "effect">): BrokerError | undefined;
}

/** The broker's own access: everything. */
const ALL: Permissions = { principal: LOCAL, sees: () => true, seesAll: true, refusal: () => undefined };

/** `id`: undefined for the broker itself. Throws UNAUTHORIZED if the principal was revoked. */
export async function permissionsOf(principals: Principals, id: string | undefined): Promise<Permissions> {
  if (id === undefined) return ALL;
  const principal = await principals.find(id);
  if (!principal) throw new BrokerError("UNAUTHORIZED", "This principal has been revoked.");
  const mayUse = matcherOf(principal.tools);
  return {
    principal,
    sees: seesEditor(principal),
    seesAll: seesEveryEditor(principal),
    refusal({ name, effect }) {
      if (effect !== "read_only" && !hasRole(principal, "submit"))
        return new BrokerError(
          "FORBIDDEN",
          `The role "read" may not call ${name}, which may change something.`,
        );
      if (!mayUse(name))
        return new BrokerError("FORBIDDEN", `The tool ${name} is not allowed for ${principal.name}.`);
      return undefined;
    },
  };
}

/** Also those that are not known yet. */
export function seesEveryEditor({ editors: { allow, deny } }: Pick<Principal, "editors">): boolean {
  return allow.includes("*") && deny.length === 0;
}

/** By the Editor's id. */
export function seesEditor({ editors }: Pick<Principal, "editors">): (editorId: string) => boolean {
  return matcherOf(editors);
}

/** Globs are compiled once: a principal has few, and every call evaluates them. */
const compiled = new Map<string, (name: string) => boolean>();
const KEPT = 1_000;

function matcherOf(selection: NameFilter): (name: string) => boolean {
  const key = JSON.stringify([selection.allow, selection.deny]);
  const known = compiled.get(key);
  if (known) return known;
  const [allowed, denied] = [anyOf(selection.allow), anyOf(selection.deny)];
  const matches = (name: string): boolean => allowed(name) && !denied(name);
  if (compiled.size >= KEPT) compiled.clear();
  compiled.set(key, matches);
  return matches;
}

/** A name is not a path: slashes and dots match literally, and `*` matches every name. */
function anyOf(globs: readonly string[]): (name: string) => boolean {
  if (globs.includes("*")) return () => true;
  return globs.length === 0 ? () => false : picomatch([...globs], { dot: true, bash: true });
}
