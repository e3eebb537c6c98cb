/** Ends open requests and streams once the token or the login that admitted them has ended. */
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LOCAL } from "../../shared/principal.js";
import type { Authenticator, Identity } from "./authenticator.js";

export interface OpenRequests {
  /** Watches an admitted request; false if its principal has reached its limit of open requests. */
  watch(request: FastifyRequest, reply: FastifyReply): boolean;
  close(): void;
}

/** `everyMs`: how long a stream may outlive its token. The operation that it waited for goes on. */
export function createOpenRequests(
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
