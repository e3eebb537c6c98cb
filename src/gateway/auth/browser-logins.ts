/**
 * A browser's login: a token becomes a cookie that no script of a page can read. The cookie names a login in the store, so
 * that every gateway knows it, and a logout ends it everywhere; it is valid only as long as its token.
 */
import type { FastifyRequest } from "fastify";
import type { Logins } from "../../shared/store/logins.js";
import type { Authenticator, Logged } from "./authenticator.js";

export interface BrowserLogins extends Logged {
  /** The cookie for this token; undefined if the token is wrong. */
  open(request: FastifyRequest, token: string): Promise<string | undefined>;
  /** Ends the login; the cookie that replaces its own. */
  end(request: FastifyRequest): Promise<string>;
}

/** A working day: after it the token is asked for again, ms. */
const LIFE_MS = 12 * 3_600_000;

export function createBrowserLogins(auth: Authenticator, logins: Logins): BrowserLogins {
  return {
    async open(request, token) {
      const identity = await auth.identify(token);
      if (!identity) return undefined;
      const { principal, tokenId } = identity;
      const secret = await logins.open({ principal: principal.id, tokenId }, LIFE_MS);
      return cookie(request, secret, LIFE_MS / 1_000);
    },

    async identify(request) {
      const secret = secretIn(request);
      if (secret === undefined) return undefined;
      const login = await logins.find(secret);
      if (!login) return undefined;
      const principal = await auth.find(login.principal);
      if (!principal) return undefined;
      const isLoggedIn = async (): Promise<boolean> => (await logins.find(secret)) !== undefined;
      const identity = { principal, tokenId: login.tokenId, isLoggedIn };
      return (await auth.isValid(identity)) ? identity : undefined;
    },

    async end(request) {
      const secret = secretIn(request);
      if (secret !== undefined) await logins.end(secret);
      return cookie(request, "", 0);
    },
  };
}

/** Cookies ignore ports: a login at one gateway of a machine must not replace that at another. */
function nameFor({ headers }: FastifyRequest): string {
  const [, port = ""] = /:(\d+)$/.exec(headers.host ?? "") ?? [];
  return `unity_broker_login${port === "" ? "" : `_${port}`}`;
}

function cookie(request: FastifyRequest, value: string, seconds: number): string {
  const isSecure = request.protocol === "https" || request.headers["x-forwarded-proto"] === "https";
  const attributes = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return `${nameFor(request)}=${value}; ${attributes}`;
}

function secretIn(request: FastifyRequest): string | undefined {
  const name = nameFor(request);
  for (const each of (request.headers.cookie ?? "").split(";")) {
    const [key, value = ""] = each.trim().split("=");
    if (key === name && SECRET.test(value)) return value;
  }
  return undefined;
}

const SECRET = /^[\w-]{43}$/;
