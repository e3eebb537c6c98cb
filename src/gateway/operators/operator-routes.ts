/** The operators' pages: /healthz and /readyz for everybody, /metrics and /dashboard for who has a token. */
import type { FastifyInstance } from "fastify";
import { BrokerError, ERRORS } from "../../shared/errors.js";
import { hasRole } from "../../shared/principal.js";
import type { Door } from "../auth/door.js";
import type { Gateway } from "../gateway.js";
import { dashboard } from "./dashboard.js";
import { healthRoutes } from "./health.js";
import { createMetrics } from "./metrics.js";

export interface OperatorRoutesOptions {
  gateway: Gateway;
  door: Door;
  isClosing(): boolean;
}

export async function operatorRoutes(app: FastifyInstance, options: OperatorRoutesOptions): Promise<void> {
  const { store, broker } = options.gateway;
  await app.register(healthRoutes, { askStore: store.operations.now, isClosing: options.isClosing });

  await app.register(async (guarded) => {
    guarded.addHook(
      "onRequest",
      // Not by throwing: the dashboard's library answers whatever is thrown as a fault of its own.
      options.door.guard("Basic", (reply, { code, message }) =>
        reply.code(ERRORS[code].http).send({ error_code: code, message }),
      ),
    );
    guarded.addHook("onSend", async (_request, reply) => {
      reply.header("cache-control", "no-store");
    });
    const metrics = createMetrics({ store, broker });
    guarded.get("/metrics", async ({ identity: { principal } }, reply) => {
      if (!hasRole(principal, "operate")) {
        const { code, message } = new BrokerError(
          "FORBIDDEN",
          'What is counted here is everybody\'s: it takes the role "operate".',
        );
        return reply.code(ERRORS[code].http).send({ error_code: code, message });
      }
      reply.type(metrics.contentType);
      return metrics.scrape();
    });
    await guarded.register(dashboard, { prefix: "/dashboard", store });
  });
}
