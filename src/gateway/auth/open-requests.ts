/** Requests and streams that are open end with the token that let them in. */
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Authenticator, Identity } from "./authenticator.js";

export interface OpenRequests {
  /** One that was let in. */
  watch(request: FastifyRequest, reply: FastifyReply): void;
  close(): void;
}

/** `everyMs`: how long after its token a stream may go on. What it waited for goes on without it. */
export function createOpenRequests(
  auth: Authenticator | undefined,
  { everyMs }: { everyMs: number },
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
      open.set(raw, identity);
      raw.once("close", () => open.delete(raw));
    },
    close: () => clearInterval(timer),
  };
}
