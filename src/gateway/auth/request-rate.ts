/** How many requests a principal may send in a second: one count for every surface over HTTP, and the messages of WebSockets. */
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from "fastify";
import { BrokerError } from "../../shared/errors.js";
import { LOCAL } from "../../shared/principal.js";

export interface RequestRate {
  /** Of routes, behind their guard: counts, and refuses by throwing RATE_LIMITED. */
  hook: onRequestHookHandler;
  /** Counts one more of the principal of this request, such as a message of the WebSocket that it has opened. */
  refused(request: FastifyRequest): Promise<BrokerError | undefined>;
}

/** This user's own are not counted. */
export async function createRequestRate(app: FastifyInstance, max: number): Promise<RequestRate> {
  const refusal = (): BrokerError =>
    new BrokerError("RATE_LIMITED", `More than ${max} requests came in a second.`);
  await app.register(rateLimit, {
    global: false,
    max,
    timeWindow: 1_000,
    keyGenerator: ({ identity }) => identity.principal.id,
    allowList: ({ identity }: FastifyRequest) => identity.principal.id === LOCAL.id,
    errorResponseBuilder: refusal,
  });
  const count = app.createRateLimit();
  return {
    hook: app.rateLimit() as onRequestHookHandler,
    async refused(request) {
      const counted = await count(request);
      return !counted.isAllowed && counted.isExceeded ? refusal() : undefined;
    },
  };
}
