/** Who sends a request of the REST API, as far as repetitions depend on it (▲6). */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import type { Caller } from "../../shared/operation/operation.js";
import type { Identity } from "../auth/authenticator.js";

const MOST_CLIENT_ID = 200;

/** Callers of this process whose deliveries may still be taken back. */
const REMEMBERED = 1_000;

export interface Callers {
  /** Throws INVALID_ARGUMENTS. */
  of(request: Pick<FastifyRequest, "headers" | "identity">): { clientId?: string; caller: Caller | null };
}

/** `forget`: nothing of this caller need be remembered any more. */
export function createCallers(forget: (callerId: string) => void): Callers {
  const known = new Set<string>();
  return {
    of({ headers, identity }) {
      const clientId = headers["x-client-id"];
      if (clientId === undefined) return { caller: null };
      if (typeof clientId !== "string" || clientId.length === 0 || clientId.length > MOST_CLIENT_ID)
        throw new BrokerError("INVALID_ARGUMENTS", `X-Client-Id has 1 to ${MOST_CLIENT_ID} characters.`);
      const caller = callerNamed(identity, clientId);
      known.delete(caller.id);
      known.add(caller.id);
      const [oldest = ""] = known;
      if (known.size > REMEMBERED && known.delete(oldest)) forget(oldest);
      return { clientId, caller };
    },
  };
}

/**
 * The token with the client id: over any connection and gateway. Nothing orders its requests, so no later one proves that
 * an answer was read before it was sent (▲7): a mutating call runs again by `force_new`, another key, or after its window.
 */
function callerNamed({ principal, tokenId }: Identity, clientId: string): Caller {
  const named = createHash("sha256")
    .update(JSON.stringify([principal.id, tokenId, clientId]))
    .digest("hex");
  return { id: `rest:${named.slice(0, 32)}`, transport: "http" };
}
