/** Who sends a request of the REST API: the client that the header names, or a caller that nobody can come back as. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import type { Caller } from "../../shared/operation/operation.js";
import type { Identity } from "../auth/authenticator.js";
import { singleRequest } from "../exchange.js";

const MOST_CLIENT_ID = 200;

/** Throws INVALID_ARGUMENTS. */
export function callerOf({ headers, identity }: Pick<FastifyRequest, "headers" | "identity">): {
  clientId?: string;
  caller: Caller;
} {
  const clientId = headers["x-client-id"];
  if (clientId === undefined) return { caller: singleRequest("http") };
  if (typeof clientId !== "string" || clientId.length === 0 || clientId.length > MOST_CLIENT_ID)
    throw new BrokerError("INVALID_ARGUMENTS", `X-Client-Id has 1 to ${MOST_CLIENT_ID} characters.`);
  return { clientId, caller: callerNamed(identity, clientId) };
}

/** The token with the client id: over any connection and gateway. */
function callerNamed({ principal, tokenId }: Identity, clientId: string): Caller {
  const named = createHash("sha256")
    .update(JSON.stringify([principal.id, tokenId, clientId]))
    .digest("hex");
  return { id: `rest:${named.slice(0, 32)}`, transport: "http" };
}
