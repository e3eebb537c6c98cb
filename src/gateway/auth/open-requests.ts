/** Requests and streams that are open end with the token that let them in. */
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LOCAL } from "../../shared/principal.js";
import type { Authenticator, Identity } from "./authenticator.js";

export interface OpenRequests {
  /** One that was let in; false: its principal has as many open as it may. */
  watch(request: FastifyRequest, reply: FastifyReply): boolean;
  close(): void;
}

/** `everyMs`: how long after its token a stream may go on. What it waited for goes on without it. */
export function createOpenRequests(
  auth: Authenticator | undefined,
  { everyMs, mostOfOne }: { everyMs: number; mostOfOne: number },
): OpenRequests {
  const open = new Map<ServerResponse, Identity>();

  const look = async (): Promise<void> => {
    const valid = new Map<string, Promise<boolean>>();
    for (const [response, identity] of open) {
      const key = JSON.stringify([identity.principal.id, identity.tokenId]);
      // A file that cannot be read lets nobody in; who is in may stay.
      const isValid = valid.get(key) ?? auth?.isValid(identity).catch(() => true) ?? Promise.resolve(true);
      valid.set(key, isValid);
      if (!(await isValid)) response.destroy();
    }
  };
  const timer = auth && setInterval(() => void look(), everyMs).unref();

  return {
    watch({ identity }, { raw }) {
      // Its client has left already: nothing will say so again.
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
